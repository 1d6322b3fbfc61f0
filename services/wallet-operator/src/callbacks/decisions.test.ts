import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ok, startForDecisions } from '../../test/decisions.ts';
import { callerOf } from '../../test/factories.ts';

// The tests cover each row of the decision table, and what the contract of the game server leaves open.
const { player, service, sql } = startForDecisions();

describe('rounds', () => {
  test('hold several debits and credits, and are closed by a credit, with "0" too', async () => {
    const caller = await player();
    const roundId = randomUUID();
    expect(await caller.debit({ roundId })).toMatchObject(ok('990.00'));
    expect(await caller.debit({ roundId })).toMatchObject(ok('980.00'));
    expect(await caller.credit({ roundId, amount: '30.5', roundClosed: false })).toMatchObject(ok('1010.50'));
    expect(await caller.debit({ roundId })).toMatchObject(ok('1000.50'));
    expect(await caller.credit({ roundId, amount: '0' })).toMatchObject(ok('1000.50'));
    expect(await caller.debit({ roundId })).toMatchObject({
      http: 200,
      status: 'ERROR_UNKNOWN',
      customUserError: 'This round is over.',
    });
    expect(await caller.balance()).toMatchObject(ok('1000.50'));
  });

  test('a new credit in a closed round is refused and in the audit trail', async () => {
    const caller = await player();
    const roundId = randomUUID();
    await caller.credit({ roundId });
    expect(await caller.credit({ roundId })).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
    const events = await sql()`
      select details from audit_events where player_id = ${caller.playerId}`;
    expect(events).toMatchObject([{ details: { operation: 'credit', reason: 'round_closed' } }]);
  });

  test('a credit in a round never seen is paid', async () => {
    const caller = await player();
    expect(await caller.credit({ amount: '12.34' })).toMatchObject(ok('1012.34'));
  });

  test('each player has its own round of an id', async () => {
    const [caller, other] = [await player(), await player()];
    const roundId = randomUUID();
    await caller.credit({ roundId });
    expect(await other.debit({ roundId })).toMatchObject(ok('990.00'));
  });

  test('a debit of "0" opens the round', async () => {
    const caller = await player({ balance: 0 });
    const roundId = randomUUID();
    expect(await caller.debit({ roundId, amount: '0' })).toMatchObject(ok('0.00'));
    expect(
      await sql()`
      select closed_at from rounds where player_id = ${caller.playerId} and round_id = ${roundId}`,
    ).toEqual([{ closed_at: null }]);
  });
});

describe('players', () => {
  test.each(['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)(
    'unknown: %s',
    async (op) => {
      const answer = await callerOf(service(), randomUUID())[op]();
      expect(answer).toEqual({ http: 200, requestId: answer.requestId, status: 'ERROR_UNKNOWN' });
    },
  );

  test('disabled: no debit, no launch, but credits, rollbacks and the balance', async () => {
    const caller = await player({ status: 'disabled' });
    expect((await caller.authenticate()).status).toBe('ERROR_PLAYER_DISABLED');
    expect((await caller.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    expect(await caller.credit()).toMatchObject(ok('1005.00'));
    expect(await caller.rollback()).toMatchObject(ok('1005.00'));
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
  });

  test('self-excluded: no debit; authenticate says so, and it is in the audit trail', async () => {
    const caller = await player({ excluded: true, excludedUntil: '2999-12-31' });
    expect(await caller.authenticate()).toMatchObject({
      ...ok('1000.00'),
      excluded: true,
      excludedUntil: '2999-12-31',
    });
    expect((await caller.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    expect(await caller.credit()).toMatchObject(ok('1005.00'));
    expect(await caller.rollback()).toMatchObject(ok('1005.00'));
    const events = await sql()`
      select details from audit_events where player_id = ${caller.playerId} order by event_id`;
    expect(events[0]).toMatchObject({ details: { operation: 'authenticate', reason: 'player_excluded' } });
  });

  test('an exclusion ends with its date', async () => {
    const caller = await player({ excluded: true, excludedUntil: '2020-01-01' });
    expect(await caller.authenticate()).toMatchObject({ ...ok('1000.00'), excluded: false });
    expect(await caller.debit()).toMatchObject(ok('990.00'));
    const today = new Date().toISOString().slice(0, 10);
    const last = await player({ excluded: true, excludedUntil: today });
    expect((await last.debit()).status).toBe('ERROR_PLAYER_DISABLED');
  });

  test('what is known about the player is in the answer of authenticate', async () => {
    const caller = await player();
    await sql()`update players set name = 'Ada', country_code = 'DE', language_code = 'de',
      birth_date = '1990-05-06', address = 'Ring 1' where player_id = ${caller.playerId}`;
    const answer = await caller.authenticate();
    expect(answer).toEqual({
      http: 200,
      requestId: answer.requestId,
      status: 'OK',
      balance: '1000.00',
      accountCurrency: 'EUR',
      name: 'Ada',
      countryCode: 'DE',
      languageCode: 'de',
      birthDate: '1990-05-06',
      registrationDate: '2026-01-02',
      address: 'Ring 1',
      excluded: false,
    });
  });
});

describe('games and currencies', () => {
  test.each(['closed-game', 'no-such-game'])(
    '%s: no debit, no launch, but credits and rollbacks',
    async (game) => {
      const caller = await player();
      expect((await caller.authenticate({ gameCode: game })).status).toBe('ERROR_INVALID_GAME');
      expect((await caller.debit({ gameCode: game })).status).toBe('ERROR_INVALID_GAME');
      expect(await caller.credit({ gameId: game })).toMatchObject(ok('1005.00'));
      expect(await caller.rollback({ gameId: game })).toMatchObject(ok('1005.00'));
    },
  );

  test("another currency than the wallet's is refused; RMB is CNY and repeated as it was sent", async () => {
    const caller = await player({ currency: 'CNY' });
    expect((await caller.authenticate({ currency: 'EUR' })).status).toBe('ERROR_WRONG_CURRENCY');
    expect(await caller.authenticate({ currency: 'CNY' })).toMatchObject({ accountCurrency: 'CNY' });
    expect(await caller.authenticate({ currency: 'RMB' })).toMatchObject({ accountCurrency: 'RMB' });
  });
});

describe('balances', () => {
  test('never go below zero, however many debits come at once', async () => {
    const caller = await player({ balance: 5000 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => caller.debit({ amount: '10.00' })));
    expect(answers.filter(({ status }) => status === 'OK')).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 'ERROR_NOT_ENOUGH_MONEY')).toHaveLength(45);
    expect(await caller.balance()).toMatchObject(ok('0.00'));
  });

  test('hold int64 exactly and refuse a credit beyond', async () => {
    const caller = await player({ balance: 9_223_372_036_854_775_806n });
    expect(await caller.credit({ amount: '0.02' })).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.credit({ amount: '0.01' })).toMatchObject(ok('92233720368547758.07'));
    expect(await caller.debit({ amount: '9999999999999.99' })).toMatchObject(ok('92223720368547758.08'));
  });
});
