import { SealedEntry } from '@platform/sealed-log/evidence';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';

/** The callbacks that move money; lines of a statement have the same operations. */
export const operations = ['debit', 'credit', 'rollback'] as const;

/** A transaction as one side has it: the game server in its statement, or we in the ledger. */
export const Side = z.object({
  line: z.int().nullable().meta({ description: 'Line number in the statement' }),
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

/** How a difference can be repaired; `Difference.repair` describes each. */
export const repairActions = ['apply', 'close_round', 'ask_game_server'] as const;

/** States of the repair of a difference. */
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
      'Why it was not repaired: the reason of the ledger; earlier_first: an earlier transaction of the round is ' +
      'missing; earlier_statement_first: the bet may be in an earlier statement; received_for_another_player: the ' +
      'transaction has arrived for another player than the statement names',
  });

/** A difference between a line of the statement and our entry, with the state of its repair. */
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
        'ask_game_server: the game server must correct its data',
    }),
    state,
    status,
    reason,
    repairedAt: instant().nullable(),
    repairedBy: z.string().nullable(),
  })
  .meta({ id: 'Difference' });

/** The decision of the ledger about a repair; in a dry run, the decision it would make. */
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
    description:
      'Amount that it moves, 0.00 if the ledger already has it; null when there is nothing to repair',
  }),
  currency: z.string().nullable(),
  balance: z.string().nullable().meta({ description: 'Balance of the player after the repair' }),
});

export type RepairResult = z.output<typeof RepairResult>;
