import createClient, { defaultBodySerializer, type Client, type Middleware } from 'openapi-fetch';
import type { Credential } from './credentials.ts';

/** The client of one service: `GET`, `POST`, … accept the paths of its OpenAPI document. */
export type ServiceClient<Paths extends object> = Client<Paths>;

/** Creates the client of a service. */
export type CreateClient<Paths extends object> = (
  url: string,
  ...credentials: Credential[]
) => ServiceClient<Paths>;

/** A body that is a text, such as CSV or NDJSON; Node.js and Chromium send a stream as it is read. */
export type TextBody = string | Blob | ReadableStream<Uint8Array>;

/** By the types it takes no headers, which it reads for forms. */
const serializeOther: (body: unknown, headers?: Headers) => unknown = defaultBodySerializer;

/** openapi-fetch writes every body as JSON; a text is sent as it is, with the caller's Content-Type. */
const serializeBody = (body: unknown, headers?: Headers): unknown =>
  typeof body === 'string' || body instanceof Blob || body instanceof ReadableStream
    ? body
    : serializeOther(body, headers);

/**
 * openapi-fetch reads the body of every success as JSON unless `parseAs` says otherwise; this writes a text, such as CSV, as
 * JSON.
 */
const readText: Middleware = {
  onResponse: async ({ response, options: { parseAs } }) =>
    response.ok && parseAs === 'json' && /^text\/|ndjson/.test(response.headers.get('Content-Type') ?? '')
      ? new Response(JSON.stringify(await response.text()), response)
      : undefined,
};

/** Sends the operations of these paths to addresses that begin with another path. */
const atOtherPaths = (
  url: string,
  baseUrl: string,
  others: Readonly<Record<string, string>>,
): Middleware => ({
  onRequest: ({ request, schemaPath }) => {
    const other = others[schemaPath];
    return other === undefined
      ? undefined
      : new Request(new URL(other, url).href + request.url.slice(baseUrl.length), request);
  },
});

/**
 * What creates the clients of a service whose paths begin with `basePath`, or in `others` with another one.
 * `url` is the address of the gateway, or of the service itself: both have the same paths. Redirects are not followed,
 * because a credential must not be sent to another host.
 */
export const clientOf =
  <Paths extends object>(
    basePath: string,
    others: Readonly<Record<string, string>> = {},
  ): CreateClient<Paths> =>
  (url, ...credentials) => {
    const baseUrl = new URL(basePath, url).href;
    // `duplex` is needed for streams; not every version of the types of RequestInit has it.
    const init: RequestInit & { duplex: 'half' } = { redirect: 'manual', duplex: 'half' };
    const client = createClient<Paths>({ ...init, baseUrl, bodySerializer: serializeBody });
    client.use(readText, atOtherPaths(url, baseUrl, others), ...credentials);
    return client;
  };
