import { z } from 'zod';
import { amount, minorUnits } from '@platform/wallet-protocol/money';
import { id } from '@platform/wallet-protocol/ids';
import { idSpaceOf, type Policy } from '../ledger/command.ts';
import { normalizeCurrency } from '../ledger/domain.ts';
import { operations } from './difference.ts';

/** Accepts an ISO 8601 time of the years 1970 to 9999 with any offset; converts it to UTC. */
export const anyInstant = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an ISO 8601 time with Z or an offset' })
  .refine((written) => Date.parse(written) >= 0 && Date.parse(written) < 253_402_300_800_000, {
    error: 'must lie in the years 1970 to 9999',
  })
  .transform((written) => new Date(written).toISOString())
  .meta({ type: 'string', format: 'date-time' });

/** A boolean; CSV contains it as text. */
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((written) => written === 'true')]);

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
    reverseTransactionId: id.optional().meta({ description: 'Required for rollbacks' }),
    time: anyInstant.optional().meta({ description: 'With Z or an offset' }),
  })
  .refine(({ operation, amount: written }) => operation === 'rollback' || written !== undefined, {
    path: ['amount'],
    error: 'is needed for debits and credits',
  })
  .refine(
    ({ operation, reverseTransactionId }) => operation !== 'rollback' || reverseTransactionId !== undefined,
    { path: ['reverseTransactionId'], error: 'is needed for rollbacks' },
  )
  .meta({ id: 'StatementLine' });

export type StatementLine = z.output<typeof StatementLine>;
export type StatementField = keyof StatementLine;
export const statementFields = Object.keys(StatementLine.shape) as StatementField[];

/** A valid line of a statement and its number, from 1. */
export interface ReadLine {
  line: number;
  content: StatementLine;
}

type Value = string | number | boolean | undefined;
type ReadValue = (line: ReadLine, scope: Policy['transactionIds']) => Value;

/** Columns of `reconciliation_lines` that come from a statement: their SQL type, and their value for a line. */
const columns: Record<string, [type: string, read: ReadValue]> = {
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

/** Lines of a statement that are stored together. */
export interface LineBatch {
  count: number;
  /** For each of `lineColumns` the values, separated by line feeds: PostgreSQL splits them faster than it parses JSON. */
  columns: string[];
}

export const batchOf = (lines: readonly ReadLine[], scope: Policy['transactionIds']): LineBatch => ({
  count: lines.length,
  columns: Object.values(columns).map(([, read]) => lines.map((line) => read(line, scope) ?? '').join('\n')),
});
