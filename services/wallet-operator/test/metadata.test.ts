import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
await addGame(sql);
const ann = await person(service, 'wallet:read');

/** The metadata of a debit, a credit and a rollback of a round, as its entries show it. */
const keptOf = async (metadata: unknown) => {
  const caller = callerOf(service, await addPlayer(sql));
  const [roundId, bet] = [randomUUID(), randomUUID()];
  const answers = [
    await caller.debit({ roundId, transactionId: bet, metadata }),
    await caller.credit({ roundId, metadata, roundClosed: false }),
    await caller.rollback({ roundId, reverseTransactionId: bet, metadata }),
  ];
  for (const answer of answers) expect(answer).toMatchObject({ http: 200, status: 'OK' });
  const { body } = await ann.get(`/v1/players/${caller.playerId}/rounds/${roundId}`);
  const kept = (body['entries'] as { metadata: string | null; metadataCut: boolean }[]).map(
    ({ metadata: text, metadataCut }) => ({ text, metadataCut }),
  );
  const { body: all } = await ann.get(`/v1/players/${caller.playerId}/entries?sort=-seq&limit=3`);
  expect(
    (all['entries'] as { metadata: string | null }[]).map(({ metadata: text }) => text).toReversed(),
  ).toEqual(kept.map(({ text }) => text));
  return kept;
};

test.each([
  ['JSON text', '{"channel":"web","tags":["a","b"]}'],
  ['text that is not JSON', `a, "b" \\ c\n{NULL}\tü 🎲 \u0001`],
  ['NULL', 'NULL'],
  ['4,096 bytes', 'x'.repeat(4096)],
])('metadata is kept with its entry and shown as it came: %s', async (_what, metadata) => {
  const kept = { text: metadata, metadataCut: false };
  expect(await keptOf(metadata)).toEqual([kept, kept, kept]);
});

test.each([undefined, null, ''])('an entry has none without metadata: %s', async (metadata) => {
  const kept = { text: null, metadataCut: false };
  expect(await keptOf(metadata)).toEqual([kept, kept, kept]);
});

test.each([
  ['one byte too long', 'x'.repeat(4097), 4096],
  ['the end cuts a character of two bytes', `${'x'.repeat(4095)}ü`, 4095],
  ['the end cuts a character of four bytes', `${'x'.repeat(4093)}🎲`, 4093],
  ['nearly as long as a body may be', 'x'.repeat(99_000), 4096],
])('longer metadata is cut and marked, and refuses no callback: %s', async (_what, metadata, length) => {
  const kept = { text: `${'x'.repeat(length)}[…]`, metadataCut: true };
  expect(await keptOf(metadata)).toEqual([kept, kept, kept]);
});

test('what PostgreSQL cannot store is replaced', async () => {
  const kept = { text: 'a\uFFFDb\uFFFD', metadataCut: false };
  expect(await keptOf('a\0b\uD800')).toEqual([kept, kept, kept]);
});

test('a repeat with other metadata is the same transaction, and the first metadata stays', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const bet = { transactionId: randomUUID(), roundId: randomUUID() };
  const first = await caller.debit({ ...bet, metadata: 'first' });
  expect(await caller.debit({ ...bet, metadata: 'second' })).toEqual({
    ...first,
    requestId: expect.any(String),
  });
  const rows = await sql`select metadata from entries where transaction_id = ${bet.transactionId}`;
  expect(rows).toEqual([{ metadata: 'first' }]);
});

test('callbacks with and without metadata that come together each keep their own', async () => {
  const callers = await Promise.all(
    Array.from({ length: 12 }, async () => callerOf(service, await addPlayer(sql))),
  );
  await Promise.all(
    callers.map((caller, at) =>
      caller.debit({ transactionId: `many-${at}`, ...(at % 3 && { metadata: `m${at}` }) }),
    ),
  );
  const rows =
    await sql`select transaction_id as id, metadata from entries where transaction_id like 'many-%'`;
  expect(new Map(rows.map(({ id, metadata }) => [id, metadata]))).toEqual(
    new Map(callers.map((_, at) => [`many-${at}`, at % 3 ? `m${at}` : null])),
  );
});

test('metadata of a refused bet is kept nowhere', async () => {
  const caller = callerOf(service, await addPlayer(sql, { balance: 0 }));
  await caller.debit({ metadata: 'secret-of-a-refusal' });
  const rows = await sql`
    select from refusals r where r::text like '%secret-of-a-refusal%'
    union all select from audit_events a where a::text like '%secret-of-a-refusal%'`;
  expect(rows).toEqual([]);
});
