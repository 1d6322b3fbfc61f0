import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeQuest, startService } from './harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Sends bytes as they are; gives the status, the head and the body of what comes back. */
const send = async (head: string) => {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(head);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const [top = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(top.split(' ')[1]), top: top.toLowerCase(), body };
};

const path = `/v1/quests/${randomUUID()}/questions`;
const asking = (target: string, more = '') =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;

test.for([
  ['a target of 8,193 bytes', asking(`${path}?Skip=${'1'.repeat(8193 - path.length - 6)}`), 414],
  ['a target that never ends', `GET ${path}?Skip=${'1'.repeat(20_000)}`, 414],
  ['header fields of 20 kB', asking(path, `X-Much: ${'x'.repeat(20_000)}\r\n`), 431],
  ['a thousand header fields', asking(path, 'X-Many: x\r\n'.repeat(2000)), 431],
] as const)('%s', async ([, head, status]) => {
  const answer = await send(head);
  expect(answer.status).toBe(status);
  expect(answer.top).toContain('content-type: application/problem+json');
  expect(JSON.parse(answer.body)).toMatchObject({
    status,
    code: expect.any(String),
    requestId: expect.any(String),
  });
});

test('a request target of 8,192 bytes is accepted', async () => {
  const answer = await send(asking(`${path}?Skip=${'1'.repeat(8192 - path.length - 6)}`));
  expect([answer.status, JSON.parse(answer.body).errors]).toEqual([400, { Skip: [expect.any(String)] }]);
});

test('a page is sent as JSON in UTF-8 with its length', async () => {
  const questId = await makeQuest(service, ['Größe 🏠']);
  const answer = await send(asking(`/v1/quests/${questId}/questions`));
  const [, length] = /content-length: (\d+)/.exec(answer.top) ?? [];
  expect(Number(length)).toBe(Buffer.byteLength(answer.body));
  expect(JSON.parse(answer.body)).toMatchObject([{ titles: [{ title: 'Größe 🏠' }] }]);
});
