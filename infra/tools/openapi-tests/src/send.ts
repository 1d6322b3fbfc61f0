import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

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

/** The request has exactly this target, which `fetch` would normalise, and a connection of its own, which a refusal may close. */
const open = (url: string, { method, target, headers }: Sent) => {
  const { hostname, port } = new URL(url);
  const place = { hostname, port, method: method.toUpperCase(), path: target };
  const outgoing = request({ ...place, headers, agent: false });
  // The connection may break after the response began, when the service does not read the rest of the body.
  outgoing.on('error', () => undefined);
  return outgoing;
};

/** Sends a request. */
export const send = async (url: string, { body, ...sent }: Sent): Promise<Received> => {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const outgoing = open(url, { ...sent, headers: { ...sent.headers, ...length } });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
};

/** Sends the head of a request and never its body; the status of the response, undefined when none comes. */
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
