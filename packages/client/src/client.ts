import createClient, { defaultBodySerializer, type Client, type Middleware } from 'openapi-fetch';
import type { Credential } from './credentials.ts';

/** The client of one service: `GET`, `POST`, … accept the paths of its OpenAPI document. */
export type ServiceClient<Paths extends object> = Client<Paths>;

/** Creates the client of a service. */
export type CreateClient<Paths extends object> = (
  url: string,
  ...credentials: Credential[]
) => ServiceClient<Paths>;

/** A body of text, such as CSV or NDJSON. Node.js and Chromium send a stream while it is read. */
export type TextBody = string | Blob | ReadableStream<Uint8Array>;

/** The type of `defaultBodySerializer` lacks the parameter `headers`, which it reads for forms. */
const serializeDefault: (body: unknown, headers?: Headers) => unknown = defaultBodySerializer;

/** openapi-fetch writes every body as JSON; this sends text unchanged, with the caller's Content-Type. */
const serializeBody = (body: unknown, headers?: Headers): unknown =>
  typeof body === 'string' || body instanceof Blob || body instanceof ReadableStream
    ? body
    : serializeDefault(body, headers);

/**
 * openapi-fetch parses every successful body as JSON unless `parseAs` is set, so this turns text such as CSV into a JSON
 * string.
 */
const readText: Middleware = {
  onResponse: async ({ response, options: { parseAs } }) =>
    response.ok && parseAs === 'json' && /^text\/|ndjson/.test(response.headers.get('Content-Type') ?? '')
      ? new Response(JSON.stringify(await response.text()), response)
      : undefined,
};

/** Sends requests to the paths in `otherBases` (path of the operation → base path) below that base path. */
const useOtherBases = (
  url: string,
  baseUrl: string,
  otherBases: Readonly<Record<string, string>>,
): Middleware => ({
  onRequest: ({ request, schemaPath }) => {
    const otherBase = otherBases[schemaPath];
    return otherBase === undefined
      ? undefined
      : new Request(new URL(otherBase, url).href + request.url.slice(baseUrl.length), request);
  },
});

/**
 * Returns the function that creates clients of a service. Its paths begin with `basePath`; `otherBases` has exceptions.
 * `url` is the address of the gateway, or of the service itself: both have the same paths. Redirects are not followed,
 * because a credential must not be sent to another host.
 */
export const clientOf =
  <Paths extends object>(
    basePath: string,
    otherBases: Readonly<Record<string, string>> = {},
  ): CreateClient<Paths> =>
  (url, ...credentials) => {
    const baseUrl = new URL(basePath, url).href;
    // `duplex` is needed for streams; not every version of the types of RequestInit has it.
    const init: RequestInit & { duplex: 'half' } = { redirect: 'manual', duplex: 'half' };
    const client = createClient<Paths>({ ...init, baseUrl, bodySerializer: serializeBody });
    client.use(readText, useOtherBases(url, baseUrl, otherBases), ...credentials);
    return client;
  };
