import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

const service = await startService({ variables: { ADJUSTMENT_MAX_AMOUNT: '100.00' } });
afterEach(() => expectSoundLedger(service));
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
await addGame(sql);
const ann = await person(service, 'wallet:adjust wallet:read wallet:admin', 'ann');
const ben = await person(service, 'wallet:approve wallet:adjust wallet:read', 'ben');

const newAdjustment = (amount: string, more: object = {}) => ({
  transactionId: randomUUID(),
  amount,
  reason: 'goodwill',
  note: "Sorry, O'Neil",
  ...more,
});

/** A player in a currency of its own, since adjustments are added up by currency. */
let currencies = 0;
const newPlayer = async (balance = 1000) => {
  currencies += 1;
  const currency = `A${String.fromCharCode(65 + Math.floor(currencies / 26), 65 + (currencies % 26))}`;
  const playerId = await addPlayer(sql, { balance, currency });
  return { playerId, currency, path: `/v1/players/${playerId}/adjustments` };
};

describe('an adjustment', () => {
  test('gives or takes money, and is in the entries, the summary and the audit trail with its reason and note', async () => {
    const { playerId, currency, path } = await newPlayer();
    const [bonus, correction] = [newAdjustment('25.5'), newAdjustment('-5.00', { reason: 'correction' })];
    const given = await ann.post(path, bonus);
    expect(given).toMatchObject({
      status: 201,
      location: `${path}/${bonus.transactionId}`,
      body: { ...bonus, amount: '25.50', balance: '35.50', currency, requestedBy: 'ann', approvedBy: null },
    });
    expect((await ann.post(path, correction)).body).toMatchObject({ amount: '-5.00', balance: '30.50' });
    expect(await ann.get(given.location ?? '')).toMatchObject({ status: 200, body: given.body });
    const { body } = await ann.get(`/v1/players/${playerId}/entries`);
    expect(body['entries']).toMatchObject([
      { operation: 'deposit' },
      { operation: 'adjustment', amount: '25.50', roundId: null, metadataCut: false },
      { operation: 'adjustment', amount: '-5.00', balanceAfter: '30.50' },
    ]);
    const [, entry] = body['entries'] as { metadata: string }[];
    expect(JSON.parse(entry?.metadata ?? '')).toEqual({
      reason: 'goodwill',
      note: bonus.note,
      requestedBy: 'ann',
      approvedBy: null,
    });
    const today = new Date().toISOString().slice(0, 10);
    const summary = await ann.get(`/v1/audit/summary?from=${today}&to=${today}&limit=200`);
    const lines = summary.body['summary'] as { currency: string }[];
    expect(lines.find((line) => line.currency === currency)).toMatchObject({
      deposits: '10.00',
      adjustments: '20.50',
      closing: '30.50',
      grossRevenue: '0.00',
    });
    const events = await ann.get(`/v1/audit/events?playerId=${playerId}&kind=adjustment_requested`);
    expect(events.body['events']).toMatchObject([
      { details: { by: 'ann', ...correction } },
      { details: { by: 'ann', ...bonus } },
    ]);
  });

  test('is booked once, and its id is refused with other parameters and for a deposit', async () => {
    const { playerId, path } = await newPlayer();
    const adjustment = newAdjustment('1.00');
    const answers = await Promise.all(Array.from({ length: 5 }, () => ann.post(path, adjustment)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 201, body: { balance: '11.00' } });
    expect((await ann.post(path, { ...adjustment, amount: '1' })).body).toMatchObject({ balance: '11.00' });
    const { transactionId } = adjustment;
    for (const other of [{ amount: '-1.00' }, { reason: 'bonus' }, { note: 'another' }])
      expect(await ann.post(path, { ...adjustment, ...other })).toMatchObject({
        status: 409,
        body: { code: 'duplicate_transaction' },
      });
    const deposits = `/v1/players/${playerId}/deposits`;
    expect((await ann.post(deposits, { transactionId, amount: '1.00' })).status).toBe(409);
    await ann.post(deposits, { transactionId: 'deposit', amount: '1.00' });
    expect(await ann.post(path, newAdjustment('1.00', { transactionId: 'deposit' }))).toMatchObject({
      status: 409,
      body: { code: 'duplicate_transaction' },
    });
  });

  test('never takes more than there is; a refused one counts for no limit, and can be sent again as it is', async () => {
    const { playerId, path } = await newPlayer(5000);
    const adjustment = newAdjustment('-50.01');
    const refused = { status: 422, body: { code: 'not_enough_money', detail: 'The balance is 50.00.' } };
    expect(await ann.post(path, adjustment)).toMatchObject(refused);
    expect((await ann.get(`${path}/${adjustment.transactionId}`)).body).toMatchObject({ balance: null });
    // Somebody may have read it in order to approve it.
    expect(await ann.post(path, { ...adjustment, amount: '-50.00' })).toMatchObject({
      status: 409,
      body: { code: 'duplicate_transaction' },
    });
    await ann.post(`/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount: '0.01' });
    expect((await ann.post(path, adjustment)).body).toMatchObject({ balance: '0.00' });
    expect((await ann.post(path, newAdjustment('49.99'))).status).toBe(201);
  });

  test('that is refused is refused to all who send it at the same time', async () => {
    const { path } = await newPlayer(0);
    for (let round = 0; round < 10; round += 1) {
      const adjustment = newAdjustment('-1.00');
      const answers = await Promise.all(Array.from({ length: 6 }, () => ann.post(path, adjustment)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([422]));
    }
  });

  test('is no deposit: limits on deposits and bets do not count it', async () => {
    const { playerId, path } = await newPlayer();
    // The deposit of 10.00 that the player has counts.
    const limits = { setBy: 'player', deposit: { '24h': '15.00' }, loss: { '24h': '10.00' } };
    expect((await ann.put(`/v1/players/${playerId}/limits`, limits)).status).toBe(200);
    for (const amount of ['20.00', '-15.00'])
      expect((await ann.post(path, newAdjustment(amount))).status).toBe(201);
    const deposit = async (amount: string) =>
      (await ann.post(`/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount })).status;
    expect([await deposit('5.00'), await deposit('0.01')]).toEqual([201, 422]);
    expect(await callerOf(service, playerId).debit({ amount: '10.00' })).toMatchObject({ status: 'OK' });
  });

  test.each([
    ['without an amount', { amount: '0.00' }, 400],
    ['of three decimals', { amount: '-1.001' }, 400],
    ['with another reason', { reason: 'gift' }, 400],
    ['without a note', { note: '' }, 400],
  ])('%s is refused', async (_what, more, status) => {
    const { path } = await newPlayer();
    expect((await ann.post(path, newAdjustment('1.00', more))).status).toBe(status);
  });

  test('needs a player, and the scope wallet:adjust', async () => {
    expect((await ann.post('/v1/players/nobody/adjustments', newAdjustment('500.00'))).status).toBe(404);
    const { path } = await newPlayer();
    const admin = await person(service, 'wallet:admin wallet:read wallet:approve');
    expect(await admin.post(path, newAdjustment('1.00'))).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('wallet:adjust') },
    });
  });
});

describe('beyond the limit of 24 hours', () => {
  const needed = { status: 409, body: { code: 'approval_needed' } };

  test('an adjustment waits for another person, and is booked once it is sent again', async () => {
    const { playerId, path } = await newPlayer();
    const adjustment = newAdjustment('100.01');
    const place = `${path}/${adjustment.transactionId}`;
    expect(await ann.post(path, adjustment)).toMatchObject(needed);
    expect((await ben.get(place)).body).toMatchObject({
      amount: '100.01',
      requestedBy: 'ann',
      balance: null,
    });
    expect((await ann.post(path, { ...adjustment, amount: '100.02' })).status).toBe(409);
    const both = await person(service, 'wallet:approve', 'ann');
    expect(await both.post(`${place}/approval`, {})).toMatchObject({
      status: 409,
      body: { code: 'own_adjustment' },
    });
    expect((await ann.post(`${place}/approval`, {})).status).toBe(403);
    expect(await ben.post(`${place}/approval`, {})).toMatchObject({
      status: 200,
      body: { approvedBy: 'ben' },
    });
    // Nobody approves and books.
    expect(await ben.post(path, adjustment)).toMatchObject(needed);
    expect(await ann.post(path, adjustment)).toMatchObject({
      status: 201,
      body: { balance: '110.01', approvedBy: 'ben' },
    });
    expect(await ben.post(`${place}/approval`, {})).toMatchObject({
      status: 409,
      body: { code: 'nothing_to_apply' },
    });
    expect((await ben.post(`${path}/none/approval`, {})).status).toBe(404);
    const events = await ann.get(`/v1/audit/events?playerId=${playerId}&kind=adjustment_approved`);
    expect(events.body['events']).toMatchObject([
      { details: { by: 'ben', requestedBy: 'ann', amount: '100.01' } },
    ]);
  });

  test('what was approved is what is booked, also when the ledger refused it meanwhile', async () => {
    const { playerId, path } = await newPlayer();
    const adjustment = newAdjustment('-600.00');
    const place = `${path}/${adjustment.transactionId}`;
    expect(await ann.post(path, adjustment)).toMatchObject(needed);
    await ben.post(`${place}/approval`, {});
    expect((await ann.post(path, adjustment)).status).toBe(422);
    expect(await ann.post(path, { ...adjustment, amount: '600.00' })).toMatchObject({
      status: 409,
      body: { code: 'duplicate_transaction' },
    });
    await ann.post(`/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount: '590.00' });
    expect((await ann.post(path, adjustment)).body).toMatchObject({ balance: '0.00', approvedBy: 'ben' });
  });

  test('an approval that is older than 24 hours has ended', async () => {
    const { playerId, path } = await newPlayer();
    const adjustment = newAdjustment('200.00');
    await ann.post(path, adjustment);
    await ben.post(`${path}/${adjustment.transactionId}/approval`, {});
    await sql`update adjustments set approved_at = now() - interval '24 hours 1 second' where player_id = ${playerId}`;
    expect(await ann.post(path, adjustment)).toMatchObject(needed);
  });

  test('what was given and taken is added up by currency, and leaves the sum after 24 hours', async () => {
    const { playerId, path } = await newPlayer();
    await ann.post(path, newAdjustment('60.00'));
    await ann.post(path, newAdjustment('-40.00'));
    expect(await ann.post(path, newAdjustment('0.01'))).toMatchObject(needed);
    const other = await newPlayer();
    expect((await ann.post(other.path, newAdjustment('0.01'))).status).toBe(201);
    await sql`update adjustments set moved_at = moved_at - interval '25 hours' where player_id = ${playerId}`;
    expect((await ann.post(path, newAdjustment('100.00'))).status).toBe(201);
  });

  test('adjustments at the same time do not exceed it together', async () => {
    const { playerId, path } = await newPlayer();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ann.post(path, newAdjustment('20.00'))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect((await ann.get(`/v1/players/${playerId}`)).body).toMatchObject({ balance: '110.00' });
  });
});
