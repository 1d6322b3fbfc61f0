import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { auditKinds } from '../../db/tables.ts';
import { id } from '@platform/wallet-protocol/ids';
import { timeRange } from '../time-range.ts';

export const AuditFilter = z.object({
  playerId: text(1, 255).optional(),
  kind: z.enum(auditKinds).optional().meta({ description: 'Events of this kind' }),
  ...timeRange,
});

export const TransactionFilter = z.object({ transactionId: id.meta({ example: 'demo-transaction' }) });

export const AuditEvent = z
  .object({
    eventId: z.string(),
    at: instant(),
    kind: z.enum(auditKinds),
    playerId: z.string().nullable(),
    currency: z.string().nullable().meta({ description: 'Of the player; null without one' }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEvent' });

export const Proof = z
  .object({
    ok: z.boolean().meta({ description: 'Whether `violations` is empty' }),
    checkedAt: instant(),
    players: z.int(),
    entries: z.int().meta({ description: 'In the ledger' }),
    violations: z.array(
      z.object({
        kind: z.enum([
          'balance_differs',
          'sequence_has_gap',
          'entries_without_player',
          'balance_after_differs',
          'reversal_without_debit',
          'debit_reversed_twice',
          'tombstone_with_debit',
          'limit_counter_differs',
          'limit_window_differs',
          'daily_sum_differs',
          'round_state_differs',
          'checkpoint_differs',
        ]),
        playerId: z.string().nullable(),
        transactionId: z.string().nullable(),
        detail: z.string(),
      }),
    ),
  })
  .meta({ id: 'Proof' });
