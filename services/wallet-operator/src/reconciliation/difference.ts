import { SealedEntry } from '@platform/sealed-log/evidence';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';

/** What callbacks, and so lines of a statement, do with money. */
export const operations = ['debit', 'credit', 'rollback'] as const;

/** A transaction as one side has it: the game server in its statement, or we in the ledger. */
export const Side = z.object({
  line: z.int().nullable().meta({ description: 'Of the statement' }),
  playerId: z.string(),
  operation: SealedEntry.shape.operation,
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

/** What the operator can do about a difference; the OpenAPI document describes each. */
export const repairActions = ['apply', 'close_round', 'ask_game_server'] as const;

/** How far the repair of a difference is. */
export const repairStates = ['open', 'applying', 'applied', 'refused'] as const;

export const differenceKinds = [
  'missing_here',
  'missing_there',
  'amount',
  'player',
  'currency',
  'parameters',
  'round_state',
  'duplicate',
  'time',
] as const;

export const kind = z.enum(differenceKinds);
const repair = z.enum(repairActions);
const state = z.enum(repairStates);
const status = z.string().nullable().meta({ description: 'Decision of the ledger about the repair' });
const reason = z
  .string()
  .nullable()
  .meta({
    description:
      'Why it was not repaired: the reason of the ledger; earlier_first while an earlier transaction of the round is ' +
      'missing; earlier_statement_first while its bet may be in an earlier statement; received_for_another_player when ' +
      'it arrived meanwhile for a player whom the statement does not name',
  });

/** What differs between a line and our entry, and how far its repair is. */
export const Difference = z
  .object({
    number: z.int(),
    kind,
    playerId: z.string(),
    transactionId: z.string(),
    there: Side.nullable().meta({ description: 'The line of the statement' }),
    here: Side.nullable().meta({ description: 'Our entry' }),
    repair: repair.meta({
      description:
        'apply: apply the transaction of the statement; close_round: end the round with a credit of 0.00; ' +
        'ask_game_server: the contract has no repair on our side',
    }),
    state,
    status,
    reason,
    repairedAt: instant().nullable(),
    repairedBy: z.string().nullable(),
  })
  .meta({ id: 'Difference' });
/** What the ledger decided about a repair, or would decide. */
export const RepairResult = z.object({
  number: z.int(),
  kind,
  playerId: z.string(),
  operation: z.enum(operations).nullable().meta({ description: 'null when there is nothing to repair' }),
  repair,
  state,
  status,
  reason,
  amount: z.string().nullable().meta({
    description: 'What it moves, 0.00 when the ledger has it by now; null when there is nothing to repair',
  }),
  currency: z.string().nullable(),
  balance: z.string().nullable().meta({ description: 'Of the player, after the repair' }),
});

export type RepairResult = z.output<typeof RepairResult>;
