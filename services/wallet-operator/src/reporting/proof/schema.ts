import { instant } from '@platform/service-kit/text';
import { z } from 'zod';

export const Proof = z
  .object({
    ok: z.boolean().meta({ description: 'Whether `violations` is empty' }),
    checkedAt: instant(),
    players: z.int(),
    entries: z.int().meta({ description: 'Number of entries in the ledger' }),
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
