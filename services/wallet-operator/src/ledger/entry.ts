import type { SealedEntry } from '@platform/sealed-log/evidence';
import type { ISql } from 'postgres';
import { isoTime } from '../db/sql.ts';
import type { entries } from '../db/tables.ts';

/** An entry of the ledger with bigint amounts. It has no time, because the batch that writes it sets the time. */
export type Entry = Omit<typeof entries.$inferSelect, 'at' | 'metadata'> & {
  /** Undefined when the entry was read for a decision, which does not depend on it. */
  metadata?: string | null | undefined;
};

/** The columns of the entry with this alias as a `SealedEntry`: int64 as text, because JSON numbers are exact only to 2^53. */
export const entryColumns = (sql: ISql, alias: string) => {
  const entry = sql(alias);
  return sql`${entry}.player_id as "playerId", ${entry}.seq::text, ${entry}.operation,
    ${entry}.transaction_id as "transactionId", ${entry}.round_id as "roundId", ${entry}.game_code as "gameCode",
    ${entry}.amount::text, ${entry}.balance_after::text as "balanceAfter", ${entry}.reverses,
    ${entry}.round_closed as "roundClosed", ${isoTime(sql, sql`${entry}.at`)} as at, ${entry}.id_space as "idSpace"`;
};

/** An entry as decisions read it. */
export type StoredEntry = SealedEntry & Pick<Entry, 'namedRoundId'>;

export const parseEntry = ({ at: _at, seq, amount, balanceAfter, ...row }: StoredEntry): Entry => ({
  ...row,
  seq: BigInt(seq),
  amount: BigInt(amount),
  balanceAfter: BigInt(balanceAfter),
});
