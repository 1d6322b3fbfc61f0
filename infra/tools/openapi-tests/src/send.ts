import { request, type IncomingHttpHeaders } from 'node:http';

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

/** Sends a request with exactly this target; `fetch` would normalise it. */
export const send = (url: string, { method, target, headers, body }: Sent): Promise<Received> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      // One connection each: a service may close the connection when it refuses a request without reading its body.
      {
        hostname,
        port,
        method: method.toUpperCase(),
        path: target,
        headers: { ...headers, ...length },
        agent: false,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
