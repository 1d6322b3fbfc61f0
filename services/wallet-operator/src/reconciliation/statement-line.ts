import { z } from 'zod';
import { amount, minorUnits } from '@platform/wallet-protocol/money';
import { id } from '@platform/wallet-protocol/ids';
import { idSpaceOf, type Policy } from '../ledger/command.ts';
import { normalizeCurrency } from '../ledger/domain.ts';
import { operations } from './difference.ts';

/** An instant with an offset, as ISO 8601 in UTC; of the years 1970 to 9999. */
export const anyInstant = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an ISO 8601 time with Z or an offset' })
  .refine((written) => Date.parse(written) >= 0 && Date.parse(written) < 253_402_300_800_000, {
    error: 'must lie in the years 1970 to 9999',
  })
  .transform((written) => new Date(written).toISOString())
  .meta({ type: 'string', format: 'date-time' });

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((written) => written === 'true')]);

const needsAmount = ({ operation, amount: stated }: { operation: string; amount?: string | undefined }) =>
  operation === 'rollback' || stated !== undefined;

/** One line of a statement. Fields that it does not have are not compared. */
export const StatementLine = z
  .object({
    transactionId: id,
    playerId: id,
    operation: z.enum(operations, { error: 'must be debit, credit or rollback' }),
    amount: amount.optional().meta({ description: 'Without a sign; may be absent for rollbacks' }),
    currency: id.max(20).optional(),
    roundId: id.optional(),
    gameCode: id.optional(),
    roundClosed: flag
      .optional()
      .meta({ description: 'As in the callback; compared for credits and rollbacks' }),
    reverseTransactionId: id.optional().meta({ description: 'Needed for rollbacks' }),
    time: anyInstant.optional().meta({ description: 'With Z or an offset' }),
  })
  .refine(needsAmount, { path: ['amount'], error: 'is needed for debits and credits' })
  .refine(
    ({ operation, reverseTransactionId }) => operation !== 'rollback' || reverseTransactionId !== undefined,
    { path: ['reverseTransactionId'], error: 'is needed for rollbacks' },
  )
  .meta({ id: 'StatementLine' });

export type StatementLine = z.output<typeof StatementLine>;
export type StatementField = keyof StatementLine;
export const statementFields = Object.keys(StatementLine.shape) as StatementField[];

/** A line of the statement and its number, from 1. */
export interface ReadLine {
  line: number;
  content: StatementLine;
}

type Value = string | number | boolean | undefined;

/** Columns of `reconciliation_lines` that a statement fills: their type, and their value for a line. */
const columns: Record<
  string,
  [type: string, read: (line: ReadLine, scope: Policy['transactionIds']) => Value]
> = {
  line: ['int', ({ line }) => line],
  transaction_id: ['text', ({ content }) => content.transactionId],
  id_space: ['text', ({ content }, scope) => idSpaceOf(content, scope)],
  player_id: ['text', ({ content }) => content.playerId],
  operation: ['text', ({ content }) => content.operation],
  amount: ['bigint', ({ content: { amount } }) => (amount === undefined ? undefined : minorUnits(amount))],
  currency: ['text', ({ content: { currency } }) => currency && normalizeCurrency(currency)],
  round_id: ['text', ({ content }) => content.roundId],
  game_code: ['text', ({ content }) => content.gameCode],
  round_closed: ['boolean', ({ content }) => content.roundClosed],
  reverses: ['text', ({ content }) => content.reverseTransactionId],
  at: ['timestamptz', ({ content }) => content.time],
};

/** Names and types, in the order of `LineBatch.columns`. */
export const lineColumns = Object.entries(columns).map(([name, [type]]) => ({ name, type }));

/** Lines of a statement. */
export interface LineBatch {
  count: number;
  /** One text for each of `lineColumns`, with a line feed between two values: split faster than JSON is parsed. */
  columns: string[];
}

/** `scope`: where transaction ids are unique. */
export const batchOf = (lines: readonly ReadLine[], scope: Policy['transactionIds']): LineBatch => ({
  count: lines.length,
  columns: Object.values(columns).map(([, read]) => lines.map((line) => read(line, scope) ?? '').join('\n')),
});
