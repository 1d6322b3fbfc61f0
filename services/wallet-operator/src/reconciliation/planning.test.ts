import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Side } from './difference.ts';
import { createMissingRounds, isBefore, roundKey } from './planning.ts';
import type { Missing } from './repair-queries.ts';

const round = roundKey('ann', 'r');

const missingOf = (number: number, transactionId: string, side: Partial<Side>): Missing => ({
  number,
  playerId: 'ann',
  transactionId,
  there: { roundId: 'r', roundClosed: null, ...side } as Side,
});

const side = fc.record({
  operation: fc.constantFrom('debit', 'credit', 'rollback'),
  roundClosed: fc.constantFrom(true, false, null),
  time: fc.constantFrom(null, '2026-11-01T00:00:00.000Z', '2026-11-01T00:00:01.000Z'),
});

test('a transaction waits for exactly the missing transactions of its round that come before it and are not repaired', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), side), { maxLength: 12 }),
      fc.array(fc.integer({ min: 0, max: 5 })),
      (transactions, repairs) => {
        const missing = transactions.map(([id, fields], at) => missingOf(at + 1, `t${id}`, fields));
        const rounds = createMissingRounds(missing);
        const left = new Set(missing);
        const check = () => {
          for (const row of missing) {
            const isEarlier = (other: Missing) =>
              other.transactionId !== row.transactionId && isBefore(other, row);
            expect(rounds.hasEarlier(round, row)).toBe([...left].some(isEarlier));
          }
        };
        check();
        for (const id of repairs) {
          const same = missing.filter(({ transactionId }) => transactionId === `t${id}`);
          for (const row of same) rounds.markRepaired(row);
          for (const row of same) left.delete(row);
          check();
        }
      },
    ),
  );
});

test('finding what a transaction waits for does not read every missing transaction of its round', () => {
  let reads = 0;
  const counted = (row: Missing): Missing => ({
    ...row,
    get there() {
      reads += 1;
      return row.there;
    },
  });
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  const bets = Array.from({ length: 2000 }, (_, at) =>
    counted(missingOf(at, `bet${at}`, { operation: 'debit', time: time(2000 + at) })),
  );
  const wins = Array.from({ length: 1000 }, (_, at) =>
    counted(missingOf(at, `win${at}`, { operation: 'credit', time: time(at) })),
  );
  const rounds = createMissingRounds(bets);
  reads = 0;
  expect(wins.some((win) => rounds.hasEarlier(round, win))).toBe(false);
  expect(reads).toBeLessThan(100_000);
});
