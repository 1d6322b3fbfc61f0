export const operations = ['debit', 'credit', 'rollback', 'balance'] as const;

/**
 * One callback as its sender saw it, one line of a recorded file. A retry is a call of its own with the same
 * transaction. Times are microseconds on one monotonic clock; amounts and balances are minor units.
 */
export interface Call {
  player: string;
  /** Calls of one player with the same number belong together; before and after them nothing was running. */
  history: number;
  operation: (typeof operations)[number];
  transaction?: string;
  /** The debit that a rollback reverses. */
  reverses?: string;
  amount?: number;
  /** A rollback names the round of its debit. Calls without a round belong to one round together. */
  round?: string;
  /** Whether a credit or rollback closes its round. */
  closes?: boolean;
  sent: number;
  /** Null: no answer, or one that does not say what happened (5xx, unreadable). */
  answered: number | null;
  /** `status` of the answer. */
  status: string | null;
  balance: number | null;
}

/** What a call asks for. */
export type Asked = Pick<Call, 'operation' | 'transaction' | 'reverses' | 'amount' | 'round' | 'closes'>;

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

const faultOf = (call: Record<string, unknown>): string | undefined => {
  const { operation, answered, sent } = call;
  if (!isId(call['player'])) return 'player is not a text';
  if (!isCount(call['history'])) return 'history is not a whole number';
  if (!operations.some((known) => known === operation))
    return `operation is not one of ${operations.join(', ')}`;
  if (operation !== 'balance' && !isId(call['transaction'])) return 'transaction is not a text';
  if (operation === 'rollback' ? !isId(call['reverses']) : call['reverses'] !== undefined)
    return 'reverses belongs to rollbacks, and to each of them';
  const moves = operation === 'debit' || operation === 'credit';
  if (moves && !isCount(call['amount'])) return 'amount is not a whole number of minor units';
  if (call['round'] !== undefined && !isId(call['round'])) return 'round is not a text';
  if (call['closes'] !== undefined && typeof call['closes'] !== 'boolean')
    return 'closes is not true or false';
  if (!isTime(sent)) return 'sent is not a number';
  if (
    answered === null
      ? call['status'] !== null
      : !isTime(answered) || answered < sent || !isId(call['status'])
  )
    return 'answered and status are both null, or a time after sent and a text';
  if (call['balance'] !== null && !isCount(call['balance']))
    return 'balance is not a whole number of minor units';
  return undefined;
};

/** Reads one line of a recorded file. Throws an Error that says what is wrong with it. */
export const parseCall = (line: string): Call => {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null) throw new Error('a call is a JSON object');
  const fault = faultOf(value as Record<string, unknown>);
  if (fault !== undefined) throw new Error(fault);
  return value as Call;
};
