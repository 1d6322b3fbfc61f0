import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { z } from 'zod';
import { day } from '../../accounts/players/schema.ts';

const maxDays = 31;
const dayMs = 86_400_000;

/** Query parameters that select days. */
export const dayRange = {
  from: day.meta({ description: 'First day, UTC', example: '2026-11-01' }),
  to: day.meta({ description: `Last day, UTC; at most ${maxDays} days`, example: '2026-11-07' }),
};

/** Refuses days in the wrong order, and too many days. */
const checkDays: z.core.CheckFn<{ from: string; to: string }> = ({ value, issues }) => {
  const { from, to } = value;
  const refuse = (message: string) => issues.push({ code: 'custom', path: ['to'], message, input: to });
  if (to < from) refuse('must not be before `from`');
  else if (Date.parse(to) - Date.parse(from) >= maxDays * dayMs) refuse(`choose at most ${maxDays} days`);
};

const by = z
  .enum(['currency', 'game'])
  .default('currency')
  .meta({ description: 'One row for each currency, or for each game and currency' });

export const SummaryQuery = z.strictObject({ ...dayRange, by, ...pageLimitQuery }).check(checkDays);

export const SummaryFileQuery = z.strictObject({ ...dayRange, by }).check(checkDays);

/** Schema of an amount in the currency of its row. */
export const sum = (description: string) => z.string().meta({ description, examples: ['100.00'] });

export const SummaryLine = z
  .object({
    day: z.string().meta({ format: 'date', description: 'UTC', examples: ['2026-11-01'] }),
    currency: z.string(),
    gameCode: z.string().nullable().meta({
      description:
        'null for deposits, withdrawals and adjustments, which have no game, and for all rows of `by=currency`',
    }),
    opening: sum('`closing` of the day before; 0.00 when the day before has no such row'),
    bets: sum('Debits'),
    wins: sum('Credits'),
    promotionalWins: sum('The part of `wins` that opened a round: free rounds, jackpots and other gifts'),
    reversals: sum('Bets that were rolled back'),
    grossRevenue: sum('Bets less wins and reversals; negative when players won more'),
    deposits: sum('Deposits'),
    withdrawals: sum('Withdrawals'),
    adjustments: sum('Adjustments; negative when they took money'),
    closing: sum('opening - bets + wins + reversals + deposits - withdrawals + adjustments'),
    entries: z.int(),
    complete: z.boolean().meta({ description: 'Whether the day is over and its sums are final' }),
  })
  .meta({ id: 'SummaryLine' });

export const Summary = pageLimitBody('summary', SummaryLine);
