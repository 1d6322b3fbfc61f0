import { z } from 'zod';

const operations = ['debit', 'credit', 'rollback', 'balance'] as const;

const id = z.string('is not a text').min(1, 'is an empty text');
const count = z.int('is not a whole number');
const minorUnits = z.int('is not a whole number of minor units');
const time = z.number('is not a number');

/**
 * One callback as its sender saw it: one line of a recorded file. A retry is a separate call with the same transaction.
 * Times are microseconds of one monotonic clock; amounts and balances are minor units.
 */
const Call = z
  .object({
    player: id,
    /** Calls of a player with the same number form a history; no call of the player overlaps two histories. */
    history: count,
    operation: z.enum(operations, `is not one of ${operations.join(', ')}`),
    transaction: id.optional(),
    /** The debit that a rollback reverses. */
    reverses: id.optional(),
    amount: minorUnits.optional(),
    /** A rollback names the round of its debit. All calls without a round belong to one common round. */
    round: id.optional(),
    /** Whether a credit or rollback closes its round. */
    closes: z.boolean('is not true or false').optional(),
    sent: time,
    /** Null: no answer, or an answer that does not tell the outcome (5xx, unreadable). */
    answered: time.nullable(),
    /** `status` of the answer. */
    status: id.nullable(),
    balance: minorUnits.nullable(),
  })
  .refine(
    ({ operation, transaction }) => operation === 'balance' || transaction !== undefined,
    'transaction is required for debits, credits and rollbacks',
  )
  .refine(
    ({ operation, reverses }) => (operation === 'rollback') === (reverses !== undefined),
    'reverses is required for rollbacks, and not allowed otherwise',
  )
  .refine(
    ({ operation, amount }) => amount !== undefined || (operation !== 'debit' && operation !== 'credit'),
    'amount is required for debits and credits',
  )
  .refine(
    ({ sent, answered, status }) =>
      answered === null ? status === null : status !== null && answered >= sent,
    'answered and status must both be null, or answered a time after sent and status a text',
  );

export type Call = z.output<typeof Call>;

/** The fields that a call sends; a credit or rollback that is sent has `closes`. */
export type CallRequest = Pick<
  Call,
  'operation' | 'transaction' | 'reverses' | 'amount' | 'round' | 'closes'
>;

/** Parses one line of a recorded file. Throws an Error that says what is wrong with it. */
export const parseCall = (line: string): Call => {
  const { data, error } = Call.safeParse(JSON.parse(line));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new Error([...(issue?.path ?? []), issue?.message].join(' '));
};
