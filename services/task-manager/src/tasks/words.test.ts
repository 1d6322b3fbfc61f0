import { afterAll, beforeAll, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
});
afterAll(() => service[Symbol.asyncDispose]());

const searchFinds = async (q: string, id: string): Promise<boolean> => {
  const { status, body } = await ada.as('get', `/tasks?limit=200&q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
  return body.tasks.some((task: { id: string }) => task.id === id);
};

test.each([
  ['in the other case', 'ÄRGER über МИР', 'ärger ÜBER мир'],
  ['composed in another way', 'e\u0301mile', '\u00e9mile'],
  ['composed in yet another way', '\u00e9mile', 'e\u0301mile'],
  ['in full width', 'Ｔｏｋｙｏ', 'tokyo'],
  ['with a ligature', 'ﬁle', 'file'],
  ['between angle brackets', 'if a<b and c>d then', 'and'],
  ['in what looks like a tag', '<script alert>', 'alert'],
  ['after what looks like an entity', 'salt &amp; pepper&nbsp;mill', 'amp nbsp mill'],
  ['behind a sign', 'Call +49 30 -7', '49 7'],
  ['of an address', 'http://shop.example.test/a?b=c&d=e#f', 'shop a c e f'],
  ['of a file', '~/Documents/tax_2026-final.pdf', 'documents tax 2026 final pdf'],
  ['with an apostrophe', "don't panic", "DON'T"],
  ['with a number', '10,000 words in v1.2.3', '10 000 2'],
])('a word is found %s: %j with the query %j', async (_description, title, q) => {
  for (const input of [{ title }, { title: 'x', description: title }]) {
    const { body } = await ada.as('post', '/tasks').send(input);
    expect(await searchFinds(q, String(body.id))).toBe(true);
    expect(await searchFinds(`${q} nowhere`, String(body.id))).toBe(false);
  }
});

test('the longest description, in characters that grow under NFKC, is stored and found', async () => {
  const description = Array.from({ length: 5000 }, () => '\ufdfa ').join('');
  const { status, body } = await ada.as('post', '/tasks').send({ title: 'long', description });
  expect(status).toBe(201);
  expect(await searchFinds('\ufdfa', String(body.id))).toBe(true);
  const manyCharacters = String.fromCodePoint(...Array.from({ length: 10_000 }, (_, n) => 0x4e00 + n));
  expect((await ada.as('post', '/tasks').send({ title: 'wide', description: manyCharacters })).status).toBe(
    201,
  );
});

test('the search column of a task contains each word once and no positions', async () => {
  const description = 'milk and bread and '.repeat(400);
  const { body } = await ada.as('post', '/tasks').send({ title: 'shopping', description });
  const [task] = await service.context.database.sql`
    select pg_column_size(words) as bytes from tasks where id = ${String(body.id)}`;
  expect(task?.['bytes']).toBeLessThan(100);
  expect(await searchFinds('bread shopping', String(body.id))).toBe(true);
});
