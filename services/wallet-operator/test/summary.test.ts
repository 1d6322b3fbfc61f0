import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryFile } from '../src/reporting/summary/use-cases.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, startService, type Running } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

let service: Running;
const sql = () => service.context.database.sql;
beforeAll(async () => {
  service = await startService();
  await addGame(sql());
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

interface Line {
  gameCode: string | null;
  currency: string;
  [sum: string]: unknown;
}

const today = () => new Date().toISOString().slice(0, 10);
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

/** The rows of a currency, up to tomorrow, so that the test may run over midnight. */
const linesOf = async (currency: string, by: string): Promise<Line[]> => {
  const ann = await person(service, 'wallet:read');
  const { status, body } = await ann.get(
    `/v1/audit/summary?from=${today()}&to=${tomorrow()}&by=${by}&limit=200`,
  );
  expect(status).toBe(200);
  return (body['summary'] as Line[]).filter((line) => line.currency === currency);
};

test('the summary has the money of players, and of each game, before and after the day', async () => {
  const caller = callerOf(service, await addPlayer(sql(), { currency: 'SEK', balance: 10_000 }));
  const [roundId, transactionId] = [randomUUID(), randomUUID()];
  await caller.debit({ roundId, amount: '10.00' });
  await caller.debit({ roundId, transactionId, amount: '5.00' });
  await caller.rollback({ roundId, reverseTransactionId: transactionId });
  await caller.credit({ roundId, amount: '2.50', roundClosed: true });
  await caller.credit({ amount: '1.00', roundClosed: true });
  const common = { currency: 'SEK', opening: '0.00', complete: false };
  const played = {
    bets: '15.00',
    wins: '3.50',
    promotionalWins: '1.00',
    reversals: '5.00',
    grossRevenue: '6.50',
  };
  expect((await linesOf('SEK', 'currency')).at(-1)).toMatchObject({
    ...common,
    ...played,
    gameCode: null,
    deposits: '100.00',
    withdrawals: '0.00',
    closing: '93.50',
    entries: 6,
  });
  expect((await linesOf('SEK', 'game')).slice(-2)).toMatchObject([
    { ...common, gameCode: null, bets: '0.00', deposits: '100.00', closing: '100.00' },
    { ...common, ...played, gameCode: 'dice-alpha', deposits: '0.00', closing: '-6.50' },
  ]);
});

test('sums, amounts and balances of any size are exact to the last cent', async () => {
  const playerId = await addPlayer(sql(), { currency: 'NOK', balance: 1_234_567_890_123_456_789n });
  const exact = '12345678901234567.89';
  expect((await linesOf('NOK', 'currency')).at(-1)).toMatchObject({ deposits: exact, closing: exact });
  const ann = await person(service, 'wallet:read');
  const { body } = await ann.get(`/v1/players/${playerId}/entries`);
  expect(body['entries']).toMatchObject([{ amount: exact, balanceAfter: exact }]);
});

test('a win without a bet is marked in the list of rounds, in the round and in the entries', async () => {
  const caller = callerOf(service, await addPlayer(sql()));
  const [free, played] = [`free-${randomUUID()}`, `played-${randomUUID()}`];
  await caller.credit({ roundId: free, roundClosed: false });
  await caller.credit({ roundId: free, roundClosed: false });
  await caller.debit({ roundId: played });
  await caller.credit({ roundId: played, roundClosed: false });
  const ann = await person(service, 'wallet:read');
  const { body } = await ann.get(`/v1/players/${caller.playerId}/entries`);
  expect((body['entries'] as Line[]).map(({ promotional }) => promotional)).toEqual([
    false,
    true,
    false,
    false,
    false,
  ]);
  for (const [roundId, promotional] of [
    [free, true],
    [played, false],
  ] as const) {
    const round = await ann.get(`/v1/players/${caller.playerId}/rounds/${roundId}`);
    expect(round.body).toMatchObject({ roundId, promotional });
    const found = await ann.get(`/v1/rounds?roundId=${roundId}`);
    expect(found.body['rounds']).toMatchObject([{ roundId, promotional }]);
  }
});

test('a win that overtook its bet is an ordinary win, as long as the day of the round is not over', async () => {
  const caller = callerOf(service, await addPlayer(sql(), { currency: 'DKK' }));
  const ann = await person(service, 'wallet:read');
  const isPromotional = async (roundId: string) =>
    (await ann.get(`/v1/players/${caller.playerId}/rounds/${roundId}`)).body['promotional'];
  const [overtaken, late] = [randomUUID(), randomUUID()];
  for (const roundId of [overtaken, late]) {
    await caller.credit({ roundId, roundClosed: false });
    expect(await isPromotional(roundId)).toBe(true);
  }
  await sql()`update rounds set opened_at = opened_at - interval '24 hours' where round_id = ${late}`;
  for (const roundId of [overtaken, late])
    for (const amount of ['1.00', '2.00'])
      expect((await caller.debit({ roundId, amount })).status).toBe('OK');
  expect(await isPromotional(overtaken)).toBe(false);
  // The sums of its day may be stored.
  expect(await isPromotional(late)).toBe(true);
  for (const roundId of [overtaken, late])
    expect((await caller.credit({ roundId, roundClosed: true })).status).toBe('OK');
  expect([await isPromotional(overtaken), await isPromotional(late)]).toEqual([false, true]);
  await sql()`update rounds set opened_at = opened_at + interval '24 hours' where round_id = ${late}`;
});

test('a rollback that closes an unknown round opens no promotional round', async () => {
  const caller = callerOf(service, await addPlayer(sql()));
  const roundId = randomUUID();
  await caller.rollback({ roundId, roundClosed: true });
  const ann = await person(service, 'wallet:read');
  expect((await ann.get(`/v1/players/${caller.playerId}/rounds/${roundId}`)).body).toMatchObject({
    promotional: false,
  });
});

test('the file has the same rows, and no text that a spreadsheet would calculate', async () => {
  const game = await addGame(sql(), `=1+1,"${randomUUID()}`);
  const caller = callerOf(service, await addPlayer(sql(), { currency: 'NOK', balance: 10_000 }));
  await caller.debit({ gameCode: game, amount: '3.00' });
  await sql()`insert into daily_sums values ('2020-01-05', 'NOK', ${game}, 1, 300, 0, 0, 0, 0, 0, 0, -300)`;
  await using _ = { [Symbol.asyncDispose]: async () => void (await sql()`truncate daily_sums`) };
  const answer = await fetch(`${service.url}/v1/audit/summary.csv?from=2020-01-05&to=2020-01-05&by=game`, {
    headers: { Authorization: `Bearer ${await keys.token({ scope: 'wallet:read' })}` },
  });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe(
    'attachment; filename="summary-2020-01-05-2020-01-05.csv"',
  );
  expect(await answer.text()).toBe(
    'day,currency,gameCode,opening,bets,wins,promotionalWins,reversals,grossRevenue,deposits,withdrawals,adjustments,closing,entries,complete\r\n' +
      `2020-01-05,NOK,"'${game.replaceAll('"', '""')}",0.00,3.00,0.00,0.00,0.00,3.00,0.00,0.00,0.00,-3.00,1,true\r\n`,
  );
});

test('days are complete when they are kept, and pages follow each other', async () => {
  const ann = await person(service, 'wallet:read');
  await sql()`insert into daily_sums select '2021-05-01'::date + n, 'DKK', '', 1, 0, 0, 0, 0, 100, 0, 0, 100 * (n + 1)
    from generate_series(0, 4) n`;
  await using _ = { [Symbol.asyncDispose]: async () => void (await sql()`truncate daily_sums`) };
  const page = async (number: number) => {
    const { body } = await ann.get(`/v1/audit/summary?from=2021-05-02&to=2021-05-05&limit=3&page=${number}`);
    const { has_more: more } = body['page'] as { has_more: boolean };
    return [
      (body['summary'] as Line[]).map(
        ({ day, opening, complete }) => `${String(day)} ${String(opening)} ${String(complete)}`,
      ),
      more,
    ];
  };
  expect(await page(1)).toEqual([
    ['2021-05-02 1.00 true', '2021-05-03 2.00 true', '2021-05-04 3.00 true'],
    true,
  ]);
  expect(await page(2)).toEqual([['2021-05-05 4.00 true'], false]);
});

test('a summary needs the scope wallet:read and at most 31 days', async () => {
  const [ann, stranger] = [await person(service, 'wallet:read'), await person(service, 'stores:admin')];
  for (const path of ['/v1/audit/summary', '/v1/audit/summary.csv']) {
    expect((await stranger.get(`${path}?from=2026-01-01&to=2026-01-01`)).status).toBe(403);
    for (const query of [
      '',
      '?from=2026-01-01',
      '?from=2026-01-01&to=2026-02-01',
      '?from=2026-01-02&to=2026-01-01',
      '?from=2026-01-01&to=2026-01-01&by=player',
    ])
      expect((await ann.get(`${path}${query}`)).status, query).toBe(400);
  }
});

test('a day with more rows than a file may have is refused', async () => {
  await sql()`insert into daily_sums select '2022-01-01', 'EUR', 'game-' || n, 1, 0, 1, 0, 0, 0, 0, 0, 1
    from generate_series(1, 3) n`;
  await using _ = { [Symbol.asyncDispose]: async () => void (await sql()`truncate daily_sums`) };
  const filter = { from: '2022-01-01', to: '2022-01-01', by: 'game' } as const;
  expect(await summaryFile(service.context, filter, 3)).toContain('game-3');
  await expect(summaryFile(service.context, filter, 2)).rejects.toMatchObject({
    status: 422,
    code: 'too_many_lines',
  });
});
