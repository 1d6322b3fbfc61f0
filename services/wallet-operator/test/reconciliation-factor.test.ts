import { expect, test } from 'vitest';
import { addPlayer, callerOf } from './factories.ts';
import type { Running } from './harness.ts';
import { alone, lineOf, reconcile, shortly } from './reconciliations.ts';

/** Bets of 1.00, 2.00, … whose lines say `amounts`, each with a losing credit; further lines are missing here. */
const statement = async (amounts: readonly string[], missing = 0) => {
  const service = await alone();
  const played = await linesOf(service.own, amounts);
  const { playerId = '' } = played[0] ?? {};
  const unknown = Array.from({ length: missing }, () => lineOf({ playerId, amount: '500' }));
  return { ...service, lines: [...played, ...unknown] };
};

/** Plays these bets with a new player, and returns their lines. */
const linesOf = async (own: Running, amounts: readonly string[], currency = 'EUR') => {
  const playerId = await addPlayer(own.context.database.sql, { currency });
  const caller = callerOf(own, playerId);
  const lines = amounts.flatMap((amount, at) => {
    const ids = { playerId, currency, roundId: `r-${at}` };
    return [
      lineOf({ ...ids, transactionId: `${currency}-bet-${at}`, amount }),
      lineOf({
        ...ids,
        transactionId: `${currency}-lost-${at}`,
        operation: 'credit',
        amount: '0',
        roundClosed: true,
      }),
    ];
  });
  for (const { transactionId, roundId, operation } of lines) {
    const amount = operation === 'debit' ? `${Number(roundId.slice(2)) + 1}.00` : '0';
    expect((await caller[operation]({ transactionId, roundId, amount })).status).toBe('OK');
  }
  return lines;
};

test.each([
  ['in cents', ['100', '200', '300']],
  ['in thousands, with one mistake', ['0.01', '0.02', '7', '0.04']],
  ['of which one amount can be compared, and is in cents', ['100']],
  ['of which one amount can be compared, and is a hundredth', ['0.01']],
])('a statement %s is refused as a whole', async (_, amounts) => {
  const { own, url, lines } = await statement(amounts, 5);
  await using _own = own;
  const { reconciliationId, status, failure } = await reconcile(url, lines);
  expect([status, failure]).toEqual(['failed', 'one_factor']);
  expect(reconciliationId).toBeDefined();
});

test('a statement in cents of one currency is refused, also when it has more lines of another one', async () => {
  const { own, url, lines } = await statement(['1', '2', '3', '4', '5']);
  await using _own = own;
  const dollars = await linesOf(own, ['100', '200'], 'USD');
  expect(await reconcile(url, [...lines, ...dollars])).toMatchObject({ failure: 'one_factor' });
});

test('one amount that differs by a hundred is a difference where others of its currency agree', async () => {
  const { own, url, lines } = await statement(['1', '200', '3']);
  await using _own = own;
  const dollars = await linesOf(own, ['1'], 'USD');
  expect(shortly(await reconcile(url, [...lines, ...dollars]))).toEqual(['amount EUR-bet-1']);
});

test('wins that are 0.00 on one side say nothing about the unit', async () => {
  const { own, url, lines } = await statement(['1', '2', '3']);
  await using _own = own;
  const won = lines.map((line) => (line.operation === 'credit' ? { ...line, amount: '7.00' } : line));
  const wins = won.filter(({ operation }) => operation === 'credit');
  const found = await reconcile(url, won.slice(0, 1).concat(wins));
  expect([found.status, found.failure]).toEqual(['done', null]);
});

test.each([
  ['one tripled amount alone', ['3'], ['amount EUR-bet-0']],
  ['one doubled amount among others', ['1', '4', '3'], ['amount EUR-bet-1']],
  [
    'several doubled amounts among more right ones',
    ['2', '4', '3', '4', '5'],
    ['amount EUR-bet-0', 'amount EUR-bet-1'],
  ],
  [
    'amounts that differ by other factors',
    ['2', '6', '12'],
    ['amount EUR-bet-0', 'amount EUR-bet-1', 'amount EUR-bet-2'],
  ],
])('%s are differences like others', async (_, amounts, expected) => {
  const { own, url, lines } = await statement(amounts);
  await using _own = own;
  expect(shortly(await reconcile(url, lines))).toEqual(expected);
});
