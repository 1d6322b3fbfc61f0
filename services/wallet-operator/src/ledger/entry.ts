import type { SealedEntry } from '@platform/sealed-log/evidence';
import type { ISql } from 'postgres';
import { isoTime } from '../db/sql.ts';
import type { entries } from '../db/tables.ts';

/** An entry of the ledger, as rules compute with it. Its time is that of the batch that writes it. */
export type Entry = Omit<typeof entries.$inferSelect, 'at' | 'metadata'> & {
  /** Absent where an entry is read only for a decision. */
  metadata?: string | null | undefined;
};

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
