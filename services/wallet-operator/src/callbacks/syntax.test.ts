import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf, type Fields } from '../../test/factories.ts';
import { call, startService, type Running } from '../../test/harness.ts';
import { expectSoundLedger } from '../../test/proof.ts';

let service: Running;
let caller: ReturnType<typeof callerOf>;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
  caller = callerOf(service, await addPlayer(service.context.database.sql));
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

const wrongSyntax = { http: 200, status: 'ERROR_WRONG_SYNTAX' };

describe('amounts', () => {
  test.each(['0', '0.0', '0.00', '5', '5.0', '5.00', '0.01', '9999999999999.99'])(
    '%s is one',
    async (amount) => {
      expect((await caller.credit({ amount, roundClosed: false })).status).toBe('OK');
    },
  );

  const wrong = [
    '-1',
    '-0',
    '+1',
    '1e3',
    '.5',
    '5.',
    '01.00',
    '00',
    '1.000',
    '1,00',
    ' 1',
    '1 ',
    '1\n',
    '',
    '١',
    '0x1',
  ];
  const odd = [5, 5.5, null, true, {}, [], ['5.00'], '10000000000000', 'NaN', 'Infinity', '1_000', '１'];
  test.each([...wrong, ...odd])('%j is none', async (amount) => {
    expect(await caller.debit({ amount })).toMatchObject(wrongSyntax);
    expect(await caller.credit({ amount })).toMatchObject(wrongSyntax);
  });
});

test.each(['\0', 'E\0R', '\uD800'])(
  'a currency that no database can hold (%j) is wrong syntax, and harms nobody who is decided with it',
  async (currency) => {
    const [bad, ...others] = await Promise.all([
      caller.authenticate({ currency }),
      ...[1, 2, 3].map(() => caller.authenticate()),
    ]);
    expect(bad).toMatchObject(wrongSyntax);
    expect(others.map(({ status }) => status)).toEqual(['OK', 'OK', 'OK']);
  },
);

describe('ids', () => {
  const strange = [
    'a',
    ' ',
    "'; drop table entries; --",
    '${jndi:ldap://x}',
    '<script>alert(1)</script>',
    '../../etc/passwd',
    '%00%0a',
    '{"$gt": ""}',
    '\\u0000',
    'null',
    '__proto__',
    'ünï-漢字-🎲-👩‍👩‍👧',
    '\u202Eabc',
    '\uFEFFbom',
    '\u2028',
    '🎲'.repeat(255),
    'x'.repeat(255),
    'e\u0301',
  ];
  test.each(strange)('%j is an id, kept as it is', async (id) => {
    const playerId = await addPlayer(service.context.database.sql, {}, `p-${randomUUID()}`);
    const own = callerOf(service, playerId);
    const debit = { transactionId: id, roundId: id };
    expect(await own.debit({ ...debit, metadata: id })).toMatchObject({ status: 'OK', balance: '990.00' });
    expect(await own.debit(debit)).toMatchObject({ status: 'OK', balance: '990.00' });
    const [entry] = await service.context.database.sql`
      select transaction_id, round_id from entries where player_id = ${playerId} and seq = 2`;
    expect(entry).toEqual({ transaction_id: id, round_id: id });
  });

  test('é in two spellings are two ids', async () => {
    const [composed, decomposed] = ['\u00e9-two', 'e\u0301-two'];
    expect((await caller.debit({ transactionId: composed })).status).toBe('OK');
    expect((await caller.debit({ transactionId: decomposed })).status).toBe('OK');
  });

  const wrong = ['', 'a\0', '\x1f', '\x7f', '\x85', 'tab\t', 'x'.repeat(256), '🎲'.repeat(256)];
  test.each([...wrong, '\ud800', 'a\udfff', 1, null, true, {}, ['a']])('%j is none', async (id) => {
    expect(await caller.debit({ transactionId: id })).toMatchObject(wrongSyntax);
    expect(await caller.debit({ roundId: id })).toMatchObject(wrongSyntax);
    expect(await caller.credit({ gameId: id })).toMatchObject(wrongSyntax);
    expect(await caller.rollback({ reverseTransactionId: id })).toMatchObject(wrongSyntax);
    expect(await call(service.url, 'balance', { requestId: 'r', playerId: id })).toMatchObject(wrongSyntax);
  });
});

describe('fields', () => {
  const needed: Record<string, string[]> = {
    authenticate: ['requestId', 'playerId', 'currency', 'gameCode'],
    debit: ['requestId', 'playerId', 'transactionId', 'roundId', 'gameCode', 'amount'],
    credit: ['requestId', 'playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed'],
    balance: ['requestId', 'playerId'],
    rollback: [
      'requestId',
      'playerId',
      'transactionId',
      'reverseTransactionId',
      'roundId',
      'gameId',
      'roundClosed',
    ],
  };
  const sound: Fields = {
    requestId: 'r',
    playerId: 'nobody',
    currency: 'EUR',
    gameCode: 'dice-alpha',
    gameId: 'dice-alpha',
    transactionId: 't',
    reverseTransactionId: 'v',
    roundId: 'r',
    amount: '1.00',
    roundClosed: true,
  };
  for (const [callback, names] of Object.entries(needed)) {
    test.each(names)(`${callback} needs %s`, async (name) => {
      const { [name]: _left, ...rest } = sound;
      const answer = await call(service.url, callback, rest);
      expect(answer).toEqual({ ...wrongSyntax, requestId: name === 'requestId' ? '' : 'r' });
    });
    test(`${callback} accepts and ignores what it does not know`, async () => {
      const only = Object.fromEntries(names.map((name) => [name, sound[name]]));
      const answer = await call(service.url, callback, {
        ...only,
        extra: { deep: [1] },
        status: 'OK',
        balance: '1',
      });
      expect(answer).toEqual({ http: 200, requestId: 'r', status: 'ERROR_UNKNOWN' });
    });
  }

  test.each(['true', 1, 0, null, undefined])('roundClosed %j is no boolean', async (roundClosed) => {
    expect(await caller.credit({ roundClosed })).toMatchObject(wrongSyntax);
    expect(await caller.rollback({ roundClosed })).toMatchObject(wrongSyntax);
  });

  test('metadata must be a string', async () => {
    expect(await caller.debit({ metadata: { a: 1 } })).toMatchObject(wrongSyntax);
    expect(await caller.debit({ metadata: '{not json' })).toMatchObject({ status: 'OK' });
  });
});
