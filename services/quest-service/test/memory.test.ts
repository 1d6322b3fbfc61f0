import { setTimeout as sleep } from 'node:timers/promises';
import { container, startServiceProcess } from '@platform/service-kit/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, tokenWith, type Instance } from './harness.ts';

type Server = Awaited<ReturnType<typeof startServiceProcess>>;

let instance: Instance;
const headers: Record<string, string> = { 'Content-Type': 'application/json' };

beforeAll(async () => {
  instance = await startService();
  headers['Authorization'] = `Bearer ${await tokenWith('quests:write')}`;
});
afterAll(() => instance[Symbol.asyncDispose]());

const start = (): Promise<Server> =>
  startServiceProcess({
    folder: new URL('..', import.meta.url).pathname,
    variables: instance.variables,
    nodeArguments: container.nodeArguments,
  });

const createQuest = async ({ url }: Server): Promise<string> => {
  const answer = await fetch(`${url}/v1/quests`, { method: 'POST', headers, body: '{"title":"Large"}' });
  const { questId } = (await answer.json()) as { questId: string };
  return `${url}/v1/quests/${questId}/questions`;
};

/** Puts a list, again while there is no room for its body. */
const putList = async (address: string, body: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(address, { method: 'PUT', headers, body });
  if (answer.status === 503) {
    await sleep(Number(answer.headers.get('retry-after')) * 1000);
    return putList(address, body);
  }
  return { status: answer.status, text: await answer.text() };
};

/** Reads a page, again while this client holds too much of what it has not read, and its connections close (ADR 101). */
const readPage = async (address: string): Promise<unknown[]> => {
  for (;;) {
    const page = await fetch(address)
      .then((answer) => answer.json() as Promise<unknown[]>)
      .catch(() => undefined);
    if (page !== undefined) return page;
  }
};

const listOf = (length: number, item: string): string => `[${Array(length).fill(item).join()}]`;

const title = '[{"languageCode":"en-US","title":"x"}]';
const questionWith = (alternatives: string): string =>
  `{"type":"SINGLE_CHOICE","presentation":"VERTICAL","titles":${title},"alternatives":${alternatives}}`;
test('lists with millions of errors or of tiny values are refused without running out of memory', async () => {
  await using server = await start();
  const address = await createQuest(server);
  const wrong = await putList(address, listOf(10_000, questionWith(listOf(500, '0'))));
  expect(wrong.status).toBe(400);
  const { errors } = JSON.parse(wrong.text) as { errors: object };
  expect(Object.keys(errors)).toHaveLength(100);
  for (const body of [
    `[${'{},'.repeat(10_000_000)}{}]`,
    `[{"alternatives":[${'{},'.repeat(10_000_000)}{}]}]`,
  ])
    expect((await putList(address, body)).status).toBe(400);
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});

test('two lists of 30 MB at once are stored, and 24 pages of megabytes at once are read', async () => {
  await using server = await start();
  const addresses = [await createQuest(server), await createQuest(server)];
  const alternatives = Array.from({ length: 41 }, (_, n) => `{"alternativeId":"a${n}","titles":${title}}`);
  const list = listOf(10_000, questionWith(`[${alternatives.join()}]`));
  const stored = await Promise.all(addresses.map((address) => putList(address, list)));
  expect(stored.map(({ status }) => status)).toEqual([200, 200]);
  const [address = ''] = addresses;
  const pages = await Promise.all(
    Array.from(
      { length: 24 },
      async (_, n) => (await readPage(`${address}?Skip=${n}&Take=${900 + n}`)).length,
    ),
  );
  expect(pages).toEqual(Array.from({ length: 24 }, (_, n) => 900 + n));
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});
