import { instant } from '@platform/service-kit/text';
import { decimal } from '@platform/wallet-protocol/money';
import { z } from 'zod';

/** A transaction as one side has it: the game server in its statement, or we in the ledger. */
export const Side = z.object({
  line: z.int().nullable().meta({ description: 'Of the statement' }),
  playerId: z.string(),
  operation: z.string(),
  amount: z.string().nullable(),
  currency: z.string().nullable(),
  roundId: z.string().nullable(),
  gameCode: z.string().nullable(),
  roundClosed: z.boolean().nullable(),
  reverseTransactionId: z.string().nullable(),
  time: instant().nullable(),
});

export type Side = z.output<typeof Side>;

export const sideFields = Object.keys(Side.shape) as (keyof Side)[];

/** A side as it is answered; it is stored with its amount in minor units. */
export const sideView = (side: Side | null): Side | null =>
  side && { ...side, amount: side.amount === null ? null : decimal(side.amount) };
