import { connect } from 'node:net';
import { expect } from 'vitest';

/** A raw HTTP response. */
export interface HttpResponse {
  status: number;
  /** Names in lower case; one value for each time that the field occurs. */
  headers: Record<string, string[]>;
  body: string;
}

/** Decodes a chunked body. */
const joinChunks = (text: string): string => {
  const end = text.indexOf('\r\n');
  const length = Number.parseInt(text.slice(0, end), 16);
  const start = end + 2;
  return length > 0 ? text.slice(start, start + length) + joinChunks(text.slice(start + length + 2)) : '';
};

const parse = (text: string): HttpResponse => {
  const headEnd = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, headEnd).split('\r\n');
  const headers: Record<string, string[]> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    (headers[field.slice(0, colon).toLowerCase()] ??= []).push(field.slice(colon + 1).trim());
  }
  const rawBody = text.slice(headEnd + 4);
  const body = headers['transfer-encoding']?.[0] === 'chunked' ? joinChunks(rawBody) : rawBody;
  return { status: Number(statusLine.split(' ')[1]), headers, body };
};

/** Sends bytes (latin1) and returns all received bytes when the peer has closed the connection. */
export const sendBytes = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // A peer that closes before it has read all bytes resets the connection; keep what was received before.
  socket.on('error', () => {});
  socket.write(bytes, 'latin1');
  await new Promise((resolve) => void socket.once('close', resolve));
  return text;
};

/** Sends bytes and parses the one response. */
export const exchange = async (port: number, bytes: string): Promise<HttpResponse> =>
  parse(await sendBytes(port, bytes));

/** Sends a request with the necessary header fields; the target is sent unchanged. */
export const request = (
  port: number,
  target: string,
  method = 'GET',
  fields: readonly string[] = [],
  body = '',
): Promise<HttpResponse> =>
  exchange(
    port,
    [`${method} ${target} HTTP/1.1`, 'Host: gateway.test', 'Connection: close', ...fields, '', body].join(
      '\r\n',
    ),
  );

/** Checks that the gateway sent a problem response. */
export const expectProblem = (response: HttpResponse, status: number, code: string): void => {
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toEqual(['application/problem+json']);
  const [requestId, ...otherIds] = response.headers['x-request-id'] ?? [];
  expect(otherIds).toEqual([]);
  expect(JSON.parse(response.body)).toEqual({
    type: 'about:blank',
    title: expect.any(String),
    status,
    detail: expect.any(String),
    code,
    requestId,
  });
};
