import { integerParameter, pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { id } from '@platform/wallet-protocol/ids';
import { Entry } from '../../accounts/players/schema.ts';

const shape = {
  playerId: z.string(),
  roundId: z.string(),
  gameCode: z.string(),
  status: z.enum(['open', 'closed']),
  openedAt: instant(),
  closedAt: instant().nullable(),
  currency: z.string(),
  promotional: z.boolean().meta({
    description: 'Whether a win opened it instead of a bet: a free round, a jackpot or another gift',
  }),
};

const described = (description: string, example: string) => ({ description, examples: [example] });
const nullInList = 'null when the player has more than 100 entries since: then read the round itself';

export const Round = z
  .object({
    ...shape,
    stake: z
      .string()
      .nullable()
      .meta(described(`Sum of the bets; ${nullInList}`, '5.00')),
    result: z
      .string()
      .nullable()
      .meta(described(`Wins and reversals less bets; ${nullInList}`, '-5.00')),
  })
  .meta({ id: 'Round' });
export const RoundWithEntries = z
  .object({
    ...shape,
    stake: z.string().meta(described('Sum of the bets', '5.00')),
    result: z
      .string()
      .meta(described('Change of the balance by the round so far: wins and reversals less bets', '-5.00')),
    ...pageLimitBody('entries', Entry).shape,
  })
  .meta({ id: 'RoundWithEntries' });

export const RoundPath = z.object({
  playerId: id.meta({ example: 'demo-1' }),
  roundId: id.meta({ example: 'my-round' }),
});

/** The large default page holds all entries of nearly all rounds. */
export const RoundEntriesQuery = z.strictObject({
  ...pageLimitQuery,
  limit: integerParameter({ min: 1, max: 200, fallback: 200, description: 'Entries per page' }),
});

const seconds = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,8})$/)
  .transform(Number);

const ageHint = 'must be seconds, such as 3600, or an ISO 8601 time of the years 1 to 9999';

/** Refuses times whose offset moves the UTC year out of the range of ISO 8601 in PostgreSQL. */
const isInCalendar = (age: number | string): boolean => {
  const year = typeof age === 'string' ? new Date(age).getUTCFullYear() : 1;
  return !(year < 1 || year > 9999);
};

export const RoundFilter = z.object({
  status: z
    .enum(['open'])
    .optional()
    .meta({ description: 'Only open rounds; the default without `roundId`' }),
  roundId: id.optional().meta({ description: 'Rounds of all players with this id, open or closed' }),
  olderThan: z
    .union([seconds, z.iso.datetime({ offset: true, error: ageHint })])
    .refine(isInCalendar, ageHint)
    .default(0)
    .meta({ description: 'Minimum age in seconds, or the time before which it was opened', type: 'string' }),
});
