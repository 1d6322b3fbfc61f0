import { instant, text } from '@platform/service-kit/text';
import { callbacks } from '@platform/wallet-protocol/callbacks';
import { id } from '@platform/wallet-protocol/ids';
import { statuses } from '@platform/wallet-protocol/statuses';
import { z } from 'zod';
import { reasons } from '../../ledger/command.ts';
import { limitSlot } from '../../limits/schema.ts';
import { timeRange } from '../time-range.ts';

export const RefusalFilter = z.object({
  playerId: id.optional(),
  roundId: id.optional(),
  transactionId: id.optional(),
  cause: text(1, 64).optional().meta({ description: 'Such as `no_money`, `limit_reached`, `wrong_syntax`' }),
  ...timeRange,
});

const money = z.string().nullable();

export const Refusal = z
  .object({
    refusalId: z.string(),
    at: instant(),
    callback: z.enum(callbacks),
    playerId: z.string().nullable().meta({ description: 'null where the request has no valid one' }),
    currency: z.string().nullable().meta({ description: 'Of the player; null without one' }),
    roundId: z.string().nullable(),
    transactionId: z.string().nullable(),
    status: z.enum(statuses),
    cause: z.enum([...reasons, 'wrong_syntax']),
    amount: money.meta({ description: 'Of the bet or win', examples: ['5.00'] }),
    balance: money.meta({ description: 'Of the player, where money or a limit was the cause' }),
    limit: z
      .object({ ...limitSlot, limit: z.string(), remaining: z.string() })
      .nullable()
      .meta({ description: 'The limit, and what was left of it: in money, or in minutes' }),
    field: z
      .string()
      .nullable()
      .meta({ description: 'The first field with a wrong syntax; null when the body is no JSON object' }),
  })
  .meta({ id: 'Refusal' });
