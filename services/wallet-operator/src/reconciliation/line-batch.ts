import { minorUnits } from '@platform/wallet-protocol/money';
import type { Policy } from '../ledger/command.ts';
import { currencyOf } from '../ledger/domain.ts';
import { idSpaceOf } from '../ledger/command.ts';
import type { ReadLine } from './statement.ts';

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
  currency: ['text', ({ content: { currency } }) => currency && currencyOf(currency)],
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
