import type { Policy } from '../ledger/command.ts';
import { currencyOf } from '../ledger/domain.ts';
import { idSpaceOf } from '../ledger/id-space.ts';
import { minorUnits } from '@platform/wallet-protocol/money';
import type { ReadLine } from './statement.ts';

/** Columns of `reconciliation_lines` that a statement fills. */
export const lineColumns = [
  'line',
  'transaction_id',
  'id_space',
  'player_id',
  'operation',
  'amount',
  'currency',
  'round_id',
  'game_code',
  'round_closed',
  'reverses',
  'at',
] as const;

export type LineColumn = (typeof lineColumns)[number];

/** Lines of a statement. */
export interface LineBatch {
  count: number;
  /** Number of the first line. */
  first: number | null;
  /** One text for each of `lineColumns`, with a line feed between two values: split faster than JSON is parsed. */
  columns: string[];
}

const rowOf = (
  { line, content }: ReadLine,
  scope: Policy['transactionIds'],
): Record<LineColumn, string | number | boolean | undefined> => {
  const { playerId, operation, amount, currency, time } = content;
  return {
    line,
    transaction_id: content.transactionId,
    id_space: idSpaceOf({ operation, playerId }, scope),
    player_id: playerId,
    operation,
    amount: amount === undefined ? undefined : minorUnits(amount),
    currency: currency && currencyOf(currency),
    round_id: content.roundId,
    game_code: content.gameCode,
    round_closed: content.roundClosed,
    reverses: content.reverseTransactionId,
    at: time,
  };
};

/** `scope`: where transaction ids are unique. */
export const batchOf = (lines: readonly ReadLine[], scope: Policy['transactionIds']): LineBatch => {
  const rows = lines.map((line) => rowOf(line, scope));
  const columns = lineColumns.map((column) => rows.map((row) => row[column] ?? '').join('\n'));
  return { count: lines.length, first: lines[0]?.line ?? null, columns };
};
