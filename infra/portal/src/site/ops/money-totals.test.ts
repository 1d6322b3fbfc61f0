import { expect, test } from 'vitest';
import { totalsOf } from './money-totals.ts';

const line = (day: string, currency: string, more: object) => ({
  day,
  currency,
  gameCode: null,
  opening: '0.00',
  bets: '0.00',
  wins: '0.00',
  promotionalWins: '0.00',
  reversals: '0.00',
  grossRevenue: '0.00',
  deposits: '0.00',
  withdrawals: '0.00',
  adjustments: '0.00',
  closing: '0.00',
  entries: 0,
  complete: true,
  ...more,
});

test('a total has the first opening, the sums of the changes and the last closing', () => {
  const lines = [
    line('2026-11-01', 'EUR', { opening: '90071992547409.93', bets: '0.10', closing: '90071992547409.83' }),
    line('2026-11-02', 'EUR', {
      opening: '90071992547409.83',
      bets: '0.20',
      grossRevenue: '-1.05',
      adjustments: '-3.00',
      wins: '1.25',
      closing: '90071992547407.88',
      complete: false,
    }),
  ];
  expect(totalsOf(lines, '2026-11-01')).toEqual([
    line('', 'EUR', {
      opening: '90071992547409.93',
      bets: '0.30',
      wins: '1.25',
      grossRevenue: '-1.05',
      adjustments: '-3.00',
      closing: '90071992547407.88',
      complete: false,
    }),
  ]);
});

test('each currency has a separate total, and a currency that starts later has the opening 0', () => {
  const lines = [
    line('2026-11-01', 'EUR', { opening: '5.00', closing: '5.00' }),
    line('2026-11-02', 'NOK', { deposits: '7.00', closing: '7.00' }),
  ];
  expect(
    totalsOf(lines, '2026-11-01').map(({ currency, opening, closing }) => [currency, opening, closing]),
  ).toEqual([
    ['EUR', '5.00', '5.00'],
    ['NOK', '0.00', '7.00'],
  ]);
});
