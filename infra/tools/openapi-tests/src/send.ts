import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { OpenApi, Operation, SecurityScheme } from './document.ts';
import type { Plan } from './plan.ts';

export interface Sent {
  method: string;
  /** Path and query, percent-encoded. */
  target: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Opens a request with exactly this target (`fetch` would normalise it), on a new connection because a refusal may close it. */
const open = (url: string, { method, target, headers }: Sent) => {
  const { hostname, port } = new URL(url);
  const options = { hostname, port, method: method.toUpperCase(), path: target };
  const outgoing = request({ ...options, headers, agent: false });
  // The connection may break during the response when the service does not read the whole body.
  outgoing.on('error', () => undefined);
  return outgoing;
};

/** Sends a request. */
export const send = async (url: string, { body, ...sent }: Sent): Promise<Received> => {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const outgoing = open(url, { ...sent, headers: { ...sent.headers, ...length } });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
};

/** Sends the headers of a request but no body; returns the status, or undefined without a response in time. */
export const sendHead = async (url: string, sent: Sent, limitMs: number): Promise<number | undefined> => {
  const outgoing = open(url, { ...sent, headers: { ...sent.headers, 'Content-Length': '64' } });
  outgoing.flushHeaders();
  try {
    const [{ statusCode }] = (await once(outgoing, 'response', {
      signal: AbortSignal.timeout(limitMs),
    })) as [IncomingMessage];
    return statusCode;
  } catch {
    return undefined;
  } finally {
    outgoing.destroy();
  }
};

type Unsigned = Omit<Sent, 'headers'>;

/** A value without a prefix such as "Bearer", or a function that signs a request. */
export type Credential = string | ((request: Unsigned) => string);

interface Credentials {
  credentials: Record<string, Credential>;
  credentialsWithoutScope?: Record<string, Credential>;
}

const headerOf = ({ type, in: location, name = '' }: SecurityScheme, value: string): object => {
  if (type === 'http') return { Authorization: `Bearer ${value}` };
  return location === 'cookie' ? { Cookie: `${name}=${value}` } : { [name]: value };
};

/** Returns a function that returns the authentication headers of a plan's caller. */
export const credentialsOf =
  ({ components }: OpenApi, { credentials, credentialsWithoutScope = {} }: Credentials) =>
  ({ security }: Operation, { caller, alternative }: Plan, request: Unsigned): Record<string, string> => {
    const valueOf = (name: string): string | undefined => {
      if (caller === 'invalid') return 'wrong.wrong.wrong';
      const credential = (caller === 'without scope' ? credentialsWithoutScope : credentials)[name];
      return typeof credential === 'function' ? credential(request) : credential;
    };
    if (caller === 'none' || security.length === 0) return {};
    const schemes = security[alternative % security.length] ?? [];
    const headers: Record<string, string> = {};
    for (const name of schemes) {
      const scheme = components.securitySchemes?.[name];
      const value = valueOf(name);
      if (scheme && value !== undefined) Object.assign(headers, headerOf(scheme, value));
    }
    return headers;
  };
