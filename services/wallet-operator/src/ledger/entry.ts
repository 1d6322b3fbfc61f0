import type { SealedEntry } from '@platform/sealed-log/entry';
import type { ISql, PendingQuery, Row } from 'postgres';
import type { entries } from '../db/tables.ts';

/** An entry of the ledger, as rules compute with it. Its time is that of the batch that writes it. */
export type Entry = Omit<typeof entries.$inferSelect, 'at' | 'metadata'> & {
  /** Absent where an entry is read only for a decision. */
  metadata?: string | null | undefined;
};

/** A time as ISO 8601, UTC, milliseconds. */
export const isoTime = (sql: ISql, at: PendingQuery<Row[]>) =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Minor units as an amount with two decimals. A product is exact: numbers with more than 16 digits are divided inexactly. */
export const decimalOf = (sql: ISql, minor: PendingQuery<Row[]>) => sql`(${minor} * 0.01)::text`;

/**
 * The columns of the entry with this alias as a `SealedEntry`, which is how all statements read entries: text, since JSON
 * numbers of JavaScript end at 2^53.
 */
export const entryColumns = (sql: ISql, alias: string) => {
  const entry = sql(alias);
  return sql`${entry}.player_id as "playerId", ${entry}.seq::text, ${entry}.operation,
    ${entry}.transaction_id as "transactionId", ${entry}.round_id as "roundId", ${entry}.game_code as "gameCode",
    ${entry}.amount::text, ${entry}.balance_after::text as "balanceAfter", ${entry}.reverses,
    ${entry}.round_closed as "roundClosed", ${isoTime(sql, sql`${entry}.at`)} as at, ${entry}.id_space as "idSpace"`;
};

/** An entry as statements of the ledger read it. */
export type StoredEntry = SealedEntry & Pick<Entry, 'namedRoundId'>;

export const parseEntry = ({ at: _at, seq, amount, balanceAfter, ...row }: StoredEntry): Entry => ({
  ...row,
  seq: BigInt(seq),
  amount: BigInt(amount),
  balanceAfter: BigInt(balanceAfter),
});
