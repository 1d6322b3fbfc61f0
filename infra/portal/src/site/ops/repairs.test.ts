import { expect, test } from 'vitest';
import {
  applyDryRun,
  makeDryRun,
  moneyOf,
  outcomesOf,
  readRepairable,
  type Repair,
} from './reconciliation-data.ts';
import type { Session } from './session.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const waiting = (number: number): Repair => ({
  number,
  state: 'open',
  status: null,
  reason: 'earlier_first',
});

type Answer = (path: string, body: { differences?: number[] }) => unknown;

const sessionWith = (answer: Answer) =>
  ({
    ask: (path: string, _method: string, body: Parameters<Answer>[1]) => Promise.resolve(answer(path, body)),
  }) as unknown as Session;

test('a dry run of 1,000 differences is one request, and is applied by its id', async () => {
  const sent: unknown[] = [];
  const session = sessionWith((path, body) => {
    sent.push([path, body.differences?.length ?? body]);
    return { dryRunId: 'd', repairs: [waiting(1)] };
  });
  const { run, untried } = await makeDryRun(session, 'id', numbers(1000));
  expect(untried).toBe(0);
  const { dryRunId } = run;
  expect(outcomesOf(await applyDryRun(session, 'id', dryRunId), { isDryRun: false })).toEqual([
    { text: 'still waiting: an earlier transaction of the round is missing', isGood: false, numbers: [1] },
  ]);
  expect(sent).toEqual([
    ['/v1/reconciliations/id/dry-runs', 1000],
    ['/v1/reconciliations/id/repairs', { dryRunId: 'd' }],
  ]);
});

test('a dry run of more than 1,000 differences leaves out those that would be refused, until most are possible', async () => {
  const sent: number[][] = [];
  const possible = new Set([3, ...numbers(3000).slice(2001)]);
  const session = sessionWith((_path, { differences = [] }) => {
    sent.push(differences);
    const repairs = differences.map((number) =>
      possible.has(number) ? { number, state: 'open', status: 'OK', reason: null } : waiting(number),
    );
    return { dryRunId: `d-${sent.length}`, repairs };
  });
  const { run, leftOut, untried } = await makeDryRun(session, 'id', numbers(3500));
  expect(sent.map(({ length }) => length)).toEqual([1000, 1000, 1000]);
  expect(sent[2]?.slice(0, 3)).toEqual([3, 2000, 2001]);
  expect([run.dryRunId, leftOut, untried]).toEqual(['d-3', 1998, 502]);
});

test('the outcomes of a dry run show what would happen, and the reasons for refusals', () => {
  const results: Repair[] = [
    { number: 1, state: 'open', status: 'OK', reason: null },
    { number: 2, state: 'open', status: 'ERROR_NOT_ENOUGH_MONEY', reason: 'no_money' },
    { number: 3, state: 'applied', status: 'OK', reason: null },
  ];
  expect(outcomesOf(results, { isDryRun: true }).map(({ text }) => text)).toEqual([
    'would be repaired',
    'would be refused: no money',
    'already repaired',
  ]);
});

test('only repairable differences are sent, from all pages, sorted by time', async () => {
  const paths: string[] = [];
  const session = sessionWith((path) => {
    paths.push(path);
    const isFirst = paths.length === 1;
    const differences = isFirst
      ? [
          { number: 1, repair: 'apply', state: 'open', there: { time: '2026-11-01T12:00:00.000Z' } },
          { number: 2, repair: 'ask_game_server', state: 'open' },
          { number: 3, repair: 'apply', state: 'applied' },
        ]
      : [{ number: 201, repair: 'apply', state: 'refused', there: { time: '2026-11-01T11:00:00.000Z' } }];
    return { differences, page: { number: paths.length, has_more: isFirst } };
  });
  const found = await readRepairable(session, 'id', 'missing_here');
  expect(found.map(({ number }) => number)).toEqual([201, 1]);
  expect(paths[1]).toBe('/v1/reconciliations/id/differences?kind=missing_here&page=2&limit=200');
});

test('the money of repairs comes from the dry run, by kind, operation and currency', () => {
  const sums = [
    {
      kind: 'missing_here' as const,
      operation: 'debit' as const,
      currency: 'EUR',
      repairs: 2,
      amount: '10.05',
    },
    {
      kind: 'round_state' as const,
      operation: 'credit' as const,
      currency: 'USD',
      repairs: 1,
      amount: '0.00',
    },
  ];
  expect(moneyOf({ sums })).toEqual([
    'debits of 10.05 EUR (missing in the ledger)',
    'credits of 0.00 USD (round open on one side only)',
  ]);
});
