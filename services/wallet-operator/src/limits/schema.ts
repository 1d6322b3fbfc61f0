import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { amount } from '@platform/wallet-protocol/money';
import { kinds } from './domain.ts';

const byPeriod = z
  .strictObject({ '24h': amount.optional(), '7d': amount.optional(), month: amount.optional() })
  .meta({
    id: 'LimitsByPeriod',
    description: '24 hours, 7 days, and the month in the time zone of the player',
  });

const limitFields = {
  deposit: byPeriod.optional().meta({ description: 'Sum of the deposits' }),
  wager: byPeriod.optional().meta({ description: 'Sum of the bets' }),
  loss: byPeriod.optional().meta({ description: 'Bets less wins' }),
  sessionMinutes: z.int().min(1).max(1440).optional().meta({ description: 'Time without a break' }),
};

const setter = z.enum(['player', 'operator']);

export const LimitSet = z.object(limitFields).meta({ id: 'LimitSet' });

export const NewLimits = z
  .strictObject({ setBy: setter, ...limitFields })
  .meta({ id: 'NewLimits', description: 'All limits of this setter; omitted limits end after 24 hours' });

export const limitKey = { kind: z.enum(kinds), period: z.enum(['24h', '7d', 'month', 'session']) };
const value = z.string().meta({ description: 'Money, or minutes of a session', examples: ['50.00'] });
const newValue = value.nullable().meta({ description: 'Money, or minutes of a session; null: no limit' });

export const Limits = z
  .object({
    playerId: z.string(),
    currency: z.string(),
    timeZone: z
      .string()
      .meta({ description: 'Time zone of the months of the player', examples: ['Europe/Berlin'] }),
    player: LimitSet.meta({ description: 'Limits in force that the player has set' }),
    operator: LimitSet.meta({ description: 'Limits in force that the operator has set' }),
    pending: z
      .array(z.object({ ...limitKey, setBy: setter, limit: newValue, effectiveAt: instant() }))
      .meta({ description: 'Higher limits and ends of limits that are not in force yet' }),
    lowest: z
      .array(z.object({ ...limitKey, limit: value, used: value, remaining: value, since: instant() }))
      .meta({ description: 'The limits that bets and deposits are checked against' }),
  })
  .meta({ id: 'Limits' });

export const LimitChange = z
  .object({
    changeId: z.uuid(),
    ...limitKey,
    setBy: setter,
    limit: newValue,
    changedAt: instant(),
    changedBy: z.string().meta({ description: 'Subject of the access token' }),
    effectiveAt: instant(),
    cancelledAt: instant().nullable(),
  })
  .meta({ id: 'LimitChange' });

export const PlaySession = z
  .object({
    playerId: z.string(),
    currency: z.string(),
    session: z
      .object({
        startedAt: instant().meta({ description: 'First bet' }),
        lastBetAt: instant(),
        minutes: z.int().meta({
          description: 'From the first bet until now, or until the last bet if the session is over',
        }),
        isOver: z.boolean().meta({ description: 'No bet was accepted for SESSION_BREAK_S' }),
        wagered: z.string(),
        won: z.string(),
        result: z.string().meta({ description: 'Wins less bets', examples: ['-12.50'] }),
      })
      .nullable()
      .meta({ description: 'null: the player has never played' }),
  })
  .meta({ id: 'PlaySession' });
