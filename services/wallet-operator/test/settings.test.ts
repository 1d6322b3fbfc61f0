import { randomUUID } from 'node:crypto';
import { SettingsError } from '@platform/service-kit/env';
import { expect, test } from 'vitest';
import { parseEnv } from '../src/env.ts';
import { sessionHash } from '../src/ledger/sessions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';

const callerWith = async (service: Running) => {
  await addGame(service.context.database.sql);
  return callerOf(service, await addPlayer(service.context.database.sql));
};

const addSession = async (
  service: Running,
  playerId: string,
  expiresAt: string,
  gameCode = 'dice-alpha',
): Promise<string> => {
  const token = randomUUID();
  await service.context.database.sql`
    insert into sessions values (${sessionHash(token)}, ${playerId}, ${gameCode}, now(), ${expiresAt})`;
  return token;
};

test('ROLLBACK_AFTER_CLOSE=reject: a debit in a closed round is not reversed', async () => {
  await using service = await startService({ variables: { ROLLBACK_AFTER_CLOSE: 'reject' } });
  const caller = await callerWith(service);
  const debit = { transactionId: randomUUID(), roundId: randomUUID() };
  await caller.debit(debit);
  await caller.credit({ roundId: debit.roundId, amount: '0' });
  const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
  expect(await caller.rollback(reversal)).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
  expect((await caller.balance()).balance).toBe('990.00');
});

test('CREDIT_UNKNOWN_ROUND=reject: only rounds that a debit opened are paid', async () => {
  await using service = await startService({ variables: { CREDIT_UNKNOWN_ROUND: 'reject' } });
  const caller = await callerWith(service);
  expect((await caller.credit()).status).toBe('ERROR_TRANSACTION_DOES_NOT_EXIST');
  const roundId = randomUUID();
  await caller.debit({ roundId });
  expect((await caller.credit({ roundId })).status).toBe('OK');
});

test('sessions: unknown, of somebody else, past their time, and needed by no payout', async () => {
  await using service = await startService();
  const caller = await callerWith(service);
  const stranger = await addPlayer(service.context.database.sql);
  const good = await addSession(service, caller.playerId, '2999-01-01');
  const old = await addSession(service, caller.playerId, '2020-01-01');
  const foreign = await addSession(service, stranger, '2999-01-01');
  for (const op of ['authenticate', 'debit'] as const) {
    expect((await caller[op]({ sessionToken: good })).status).toBe('OK');
    expect((await caller[op]({})).status).toBe('OK');
    expect((await caller[op]({ sessionToken: 'unknown' })).status).toBe('ERROR_INVALID_SESSION');
    expect((await caller[op]({ sessionToken: foreign })).status).toBe('ERROR_INVALID_SESSION');
    expect((await caller[op]({ sessionToken: old })).status).toBe('ERROR_SESSION_EXPIRED');
  }
  expect((await caller.credit({ sessionToken: 'unknown' })).status).toBe('OK');
  expect((await caller.rollback({ sessionToken: old })).status).toBe('OK');
});

test('a session of one game can neither authenticate nor bet in another one', async () => {
  await using service = await startService();
  const caller = await callerWith(service);
  const gameCode = await addGame(service.context.database.sql, 'cards');
  const sessionToken = await addSession(service, caller.playerId, '2999-01-01', gameCode);
  expect((await caller.authenticate({ sessionToken })).status).toBe('ERROR_INVALID_SESSION');
  expect((await caller.authenticate({ sessionToken, gameCode })).status).toBe('OK');
  // By the statement of ordinary moves, and then by a decision.
  expect((await caller.debit({ sessionToken })).status).toBe('ERROR_INVALID_SESSION');
  expect((await caller.debit({ sessionToken, amount: '5000.00' })).status).toBe('ERROR_INVALID_SESSION');
  expect((await caller.debit({ sessionToken, gameCode })).status).toBe('OK');
  expect((await caller.credit({ sessionToken })).status).toBe('OK');
});

test('SESSION_POLICY=required: a debit needs a session; its stored answer does not', async () => {
  await using service = await startService({ variables: { SESSION_POLICY: 'required' } });
  const caller = await callerWith(service);
  const debit = { transactionId: randomUUID(), roundId: randomUUID() };
  expect((await caller.debit(debit)).status).toBe('ERROR_INVALID_SESSION');
  const sessionToken = await addSession(service, caller.playerId, '2999-01-01');
  expect((await caller.debit({ ...debit, sessionToken })).status).toBe('OK');
  expect((await caller.debit(debit)).status).toBe('OK');
  expect((await caller.credit({ roundId: debit.roundId })).status).toBe('OK');
});

test.each(['HMAC_SECRET', 'HMAC_SECRET_PREVIOUS'])(
  'the service does not start with a short %s, which could be guessed; the message does not have it',
  (name) => {
    const variables = {
      PORT: '0',
      DATABASE_URL: 'postgres://127.0.0.1/wallet',
      AUTH_JWKS: 'jwks.json',
      AUTH_ISSUER: 'issuer',
      AUTH_AUDIENCE: 'audience',
      HMAC_SECRET: 'sixteen letters!',
    };
    expect(parseEnv(variables).HMAC_SECRET).toBe('sixteen letters!');
    expect(() => parseEnv({ ...variables, [name]: 'fifteen letters' })).toThrow(
      new SettingsError(`Missing or wrong settings:\n  ${name} is wrong: must be at least 16 characters`),
    );
  },
);
