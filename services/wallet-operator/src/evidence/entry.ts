import { leafHash } from './merkle.ts';

/** An entry of the ledger as it is sealed: every column, as text. */
export interface SealedEntry {
  playerId: string;
  seq: string;
  operation: string;
  transactionId: string;
  roundId: string | null;
  gameCode: string | null;
  /** In minor units, signed. */
  amount: string;
  /** In minor units. */
  balanceAfter: string;
  reverses: string | null;
  roundClosed: boolean | null;
  /** ISO 8601, UTC, milliseconds. */
  at: string;
  idSpace: string;
}

/** The columns in the order in which they are sealed. */
export const sealedFields = [
  'playerId',
  'seq',
  'operation',
  'transactionId',
  'roundId',
  'gameCode',
  'amount',
  'balanceAfter',
  'reverses',
  'roundClosed',
  'at',
  'idSpace',
] as const satisfies readonly (keyof SealedEntry)[];

/**
 * The hash of an entry: its columns as lines, null as an empty one. No value holds a line end and no id is empty, so two
 * entries never have the same text. `leafOfRow` in queries.ts is the same in SQL.
 */
export const entryHash = (entry: SealedEntry): Buffer =>
  leafHash(sealedFields.map((field) => entry[field] ?? '').join('\n'));
