import { z } from 'zod';

const operations = ['debit', 'credit', 'rollback', 'balance'] as const;

const id = z.string('is not a text').min(1, 'is an empty text');
const count = z.int('is not a whole number');
const minorUnits = z.int('is not a whole number of minor units');
const time = z.number('is not a number');

/**
 * One callback as its sender saw it, one line of a recorded file. A retry is a call of its own with the same
 * transaction. Times are microseconds on one monotonic clock; amounts and balances are minor units.
 */
const Call = z
  .object({
    player: id,
    /** Calls of one player with the same number belong together; before and after them nothing was running. */
    history: count,
    operation: z.enum(operations, `is not one of ${operations.join(', ')}`),
    transaction: id.optional(),
    /** The debit that a rollback reverses. */
    reverses: id.optional(),
    amount: minorUnits.optional(),
    /** A rollback names the round of its debit. Calls without a round belong to one round together. */
    round: id.optional(),
    /** Whether a credit or rollback closes its round. */
    closes: z.boolean('is not true or false').optional(),
    sent: time,
    /** Null: no answer, or one that does not say what happened (5xx, unreadable). */
    answered: time.nullable(),
    /** `status` of the answer. */
    status: id.nullable(),
    balance: minorUnits.nullable(),
  })
  .refine(
    ({ operation, transaction }) => operation === 'balance' || transaction !== undefined,
    'transaction belongs to debits, credits and rollbacks, and to each of them',
  )
  .refine(
    ({ operation, reverses }) => (operation === 'rollback') === (reverses !== undefined),
    'reverses belongs to rollbacks, and to each of them',
  )
  .refine(
    ({ operation, amount }) => amount !== undefined || (operation !== 'debit' && operation !== 'credit'),
    'amount belongs to debits and credits, and to each of them',
  )
  .refine(
    ({ sent, answered, status }) =>
      answered === null ? status === null : status !== null && answered >= sent,
    'answered and status are both null, or a time after sent and a text',
  );

export type Call = z.output<typeof Call>;

/** What a call asks for. */
export type Asked = Pick<Call, 'operation' | 'transaction' | 'reverses' | 'amount' | 'round' | 'closes'>;

/** Reads one line of a recorded file. Throws an Error that says what is wrong with it. */
export const parseCall = (line: string): Call => {
  const { data, error } = Call.safeParse(JSON.parse(line));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new Error([...(issue?.path ?? []), issue?.message].join(' '));
};
