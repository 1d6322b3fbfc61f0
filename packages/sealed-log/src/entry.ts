import { id } from '@platform/wallet-protocol/ids';
import { z } from 'zod';
import { leafHash } from './merkle.ts';

const minorUnits = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .meta({ description: 'In minor units', examples: ['-500'] });

/**
 * An entry of the ledger as it is sealed, its columns in the order in which they are hashed. Metadata, and the round that
 * the caller of a rollback named when it is another one, are not sealed.
 */
export const SealedEntry = z.strictObject({
  playerId: id,
  seq: z.string().regex(/^\d{1,19}$/),
  operation: z.enum(['debit', 'credit', 'rollback', 'deposit', 'withdrawal', 'adjustment', 'tombstone']),
  transactionId: id,
  roundId: id.nullable(),
  gameCode: id.nullable(),
  amount: minorUnits,
  balanceAfter: minorUnits,
  reverses: id.nullable(),
  roundClosed: z.boolean().nullable(),
  at: z.iso.datetime({ precision: 3 }),
  idSpace: z
    .string()
    .regex(/^[^\p{Cc}]+$/u)
    .meta({ example: 'game' }),
});

export type SealedEntry = z.output<typeof SealedEntry>;

const columns = Object.keys(SealedEntry.shape) as (keyof SealedEntry)[];

/**
 * The hash of an entry: its columns and the currency of its player as lines, null as an empty one. No value holds a line
 * end and no id is empty, so two entries never have the same text. The wallet computes the same in SQL.
 */
export const entryHash = (entry: SealedEntry, currency: string): Buffer =>
  leafHash([...columns.map((column) => entry[column] ?? ''), currency].join('\n'));
