import { expect, test } from 'vitest';
import { addPlayer, callerOf } from './factories.ts';
import { alone, lineOf, reconcile, shortly } from './reconciliations.ts';

/** Bets of 1.00, 2.00, … whose lines say `amounts`, each with a losing credit; further lines are missing here. */
const statement = async (amounts: readonly string[], missing = 0) => {
  const service = await alone();
  const { sql } = service.own.context.database;
  const playerId = await addPlayer(sql);
  const caller = callerOf(service.own, playerId);
  const lines = amounts.flatMap((amount, at) => {
    const ids = { playerId, roundId: `r-${at}` };
    return [
      lineOf({ ...ids, transactionId: `bet-${at}`, amount }),
      lineOf({
        ...ids,
        transactionId: `lost-${at}`,
        operation: 'credit',
        amount: amount === '' ? '' : '0',
        roundClosed: true,
      }),
    ];
  });
  for (const { transactionId, roundId, operation } of lines) {
    const amount = operation === 'debit' ? `${Number(roundId.slice(2)) + 1}.00` : '0';
    expect((await caller[operation]({ transactionId, roundId, amount })).status).toBe('OK');
  }
  const unknown = Array.from({ length: missing }, () => lineOf({ playerId, amount: '500' }));
  return { ...service, lines: [...lines, ...unknown] };
};

test.each([
  ['in cents', ['100', '200', '300']],
  ['in thousands, with one mistake', ['0.01', '0.02', '7', '0.04']],
])('a statement %s is refused as a whole', async (_, amounts) => {
  const { own, url, lines } = await statement(amounts, 5);
  await using _own = own;
  const { reconciliationId, status, failure } = await reconcile(url, lines);
  expect([status, failure]).toEqual(['failed', 'one_factor']);
  expect(reconciliationId).toBeDefined();
});

test.each([
  ['one doubled amount among others', ['1', '4', '3'], ['amount bet-1']],
  [
    'several doubled amounts among more right ones',
    ['2', '4', '3', '4', '5'],
    ['amount bet-0', 'amount bet-1'],
  ],
  [
    'amounts that differ by other factors',
    ['2', '6', '12'],
    ['amount bet-0', 'amount bet-1', 'amount bet-2'],
  ],
])('%s are differences like others', async (_, amounts, expected) => {
  const { own, url, lines } = await statement(amounts);
  await using _own = own;
  expect(shortly(await reconcile(url, lines))).toEqual(expected);
});
