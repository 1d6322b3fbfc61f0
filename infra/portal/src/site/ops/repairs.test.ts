import { expect, test } from 'vitest';
import type { Difference } from './reconciliation-data.ts';
import { moneyOf, outcomesOf, repairable, sendRepairs, type Repair } from './repairs.ts';
import type { Session } from './session.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const ok = (number: number): Repair => ({ number, state: 'applied', status: 'OK', reason: null });
const waiting = (number: number): Repair => ({
  number,
  state: 'open',
  status: null,
  reason: 'earlier_first',
});

type Answer = (path: string, body: { dryRun: boolean; differences: number[] }) => unknown;

const sessionWith = (answer: Answer) =>
  ({
    ask: (path: string, _method: string, body: Parameters<Answer>[1]) => Promise.resolve(answer(path, body)),
  }) as unknown as Session;

test('repairs are sent a hundred at a time, with the progress after each request', async () => {
  const sent: number[] = [];
  const session = sessionWith((_path, { differences }) => {
    sent.push(differences.length);
    return { repairs: differences.map(ok) };
  });
  const progress: number[] = [];
  const results = await sendRepairs(session, 'id', numbers(250), false, (decided) => progress.push(decided));
  expect(sent).toEqual([100, 100, 50]);
  expect(progress).toEqual([100, 200, 250]);
  expect(results).toHaveLength(250);
});

test('a win that waits for a bet in a later request is sent again, as long as this helps', async () => {
  const applied = new Set<number>();
  let requests = 0;
  const session = sessionWith((_path, { differences }) => {
    requests += 1;
    const repairs = differences.map((number) => {
      // Number 1 is the win of bet 101; the bet of number 2 is not in the statement.
      if (number === 2 || (number === 1 && !applied.has(101))) return waiting(number);
      applied.add(number);
      return ok(number);
    });
    return { repairs };
  });
  const results = await sendRepairs(session, 'id', numbers(101), false);
  expect(requests).toBe(4);
  expect(outcomesOf(results, false)).toEqual([
    { text: 'repaired', isGood: true, numbers: [1, ...numbers(101).slice(2)] },
    { text: 'still waiting: an earlier transaction of the round is missing', isGood: false, numbers: [2] },
  ]);
});

test('a dry run is made once, and after a stop nothing more is sent', async () => {
  let requests = 0;
  const session = sessionWith((_path, { differences }) => {
    requests += 1;
    return { repairs: differences.map(waiting) };
  });
  await sendRepairs(session, 'id', numbers(50), true);
  expect(requests).toBe(1);
  await sendRepairs(session, 'id', numbers(300), false, undefined, () => requests === 2);
  expect(requests).toBe(2);
});

test('the outcomes of a dry run say what would happen, and why not', () => {
  const results: Repair[] = [
    { number: 1, state: 'open', status: 'OK', reason: null },
    { number: 2, state: 'open', status: 'ERROR_NOT_ENOUGH_MONEY', reason: 'no_money' },
    { number: 3, state: 'applied', status: 'OK', reason: null },
  ];
  expect(outcomesOf(results, true).map(({ text }) => text)).toEqual([
    'would be repaired',
    'would be refused: no money',
    'already repaired',
  ]);
});

test('only differences that the ledger can repair are sent, of all pages', async () => {
  const paths: string[] = [];
  const session = sessionWith((path) => {
    paths.push(path);
    const isFirst = paths.length === 1;
    const differences = isFirst
      ? [
          { number: 1, repair: 'apply', state: 'open' },
          { number: 2, repair: 'ask_game_server', state: 'open' },
          { number: 3, repair: 'apply', state: 'applied' },
        ]
      : [{ number: 201, repair: 'close_round', state: 'refused' }];
    return { differences, page: { number: paths.length, has_more: isFirst } };
  });
  const found = await repairable(session, 'id', 'missing_here');
  expect(found.map(({ number }) => number)).toEqual([1, 201]);
  expect(paths[1]).toBe('/v1/reconciliations/id/differences?kind=missing_here&page=2&limit=200');
});

test('the money that repairs move is summed up by operation and currency of the statement', () => {
  const one = (operation: string, amount: string | null, currency: string | null, repair = 'apply') =>
    ({ repair, there: { operation, amount, currency } }) as Difference;
  const differences = [
    one('debit', '10.00', 'EUR'),
    one('debit', '0.05', 'EUR'),
    one('debit', '1.00', 'USD'),
    one('credit', '90071992547409.93', null),
    one('rollback', '2.00', 'EUR'),
    one('rollback', null, 'EUR'),
    one('credit', '4.00', 'EUR', 'close_round'),
  ];
  expect(moneyOf(differences)).toEqual([
    'debits of 10.05 EUR',
    'debits of 1.00 USD',
    "credits of 90071992547409.93 in the player's currency",
    'rollbacks of 2.00 EUR and 1 without an amount in the statement',
  ]);
});
