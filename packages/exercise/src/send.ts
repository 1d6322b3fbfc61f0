import { request } from 'node:http';

export interface Sent {
  method: string;
  /** With its query, encoded. */
  target: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a request as it is written; `fetch` would tidy the address up first. */
export const send = (url: string, { method, target, headers, body }: Sent): Promise<Received> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const asked = request(
      // One connection each: an answer that does not read its request may close it.
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
    asked.on('error', reject);
    asked.end(body);
  });
