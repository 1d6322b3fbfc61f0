import { connect } from 'node:net';
import { expect } from 'vitest';

/** An answer on the wire. */
export interface Answer {
  status: number;
  /** Names in lower case, values of fields that came twice in one list. */
  headers: Record<string, string[]>;
  body: string;
}

/** The content of a chunked body. */
const joinChunks = (text: string): string => {
  const end = text.indexOf('\r\n');
  const length = Number.parseInt(text.slice(0, end), 16);
  const start = end + 2;
  return length > 0 ? text.slice(start, start + length) + joinChunks(text.slice(start + length + 2)) : '';
};

const parse = (text: string): Answer => {
  const split = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, split).split('\r\n');
  const headers: Record<string, string[]> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    (headers[field.slice(0, colon).toLowerCase()] ??= []).push(field.slice(colon + 1).trim());
  }
  const rest = text.slice(split + 4);
  const body = headers['transfer-encoding']?.[0] === 'chunked' ? joinChunks(rest) : rest;
  return { status: Number(statusLine.split(' ')[1]), headers, body };
};

/** Sends the bytes as they are (latin1) and gives all that comes back until the other side closes. */
export const sendBytes = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // A peer that closes early, with our bytes unread, resets: what it said before counts.
  socket.on('error', () => {});
  socket.write(bytes, 'latin1');
  await new Promise((resolve) => void socket.once('close', resolve));
  return text;
};

/** The same for a request that asks for one answer. */
export const exchange = async (port: number, bytes: string): Promise<Answer> =>
  parse(await sendBytes(port, bytes));

/** A request line of its own and the fields that a request needs; the target goes out unchanged. */
export const request = (
  port: number,
  target: string,
  method = 'GET',
  fields: readonly string[] = [],
  body = '',
): Promise<Answer> =>
  exchange(
    port,
    [`${method} ${target} HTTP/1.1`, 'Host: gateway.test', 'Connection: close', ...fields, '', body].join(
      '\r\n',
    ),
  );

/** Checks the form in which the gateway refuses. */
export const expectProblem = (answer: Answer, status: number, code: string): void => {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toEqual(['application/problem+json']);
  const [requestId, ...more] = answer.headers['x-request-id'] ?? [];
  expect(more).toEqual([]);
  expect(JSON.parse(answer.body)).toEqual({
    type: 'about:blank',
    title: expect.any(String),
    status,
    detail: expect.any(String),
    code,
    requestId,
  });
};
