import type { ISql } from 'postgres';
import { firstRow } from '../db/sql.ts';
import { latestCredible } from '../db/time.ts';
import { countedEntries, countedSums } from './counters.ts';

export interface SessionRow {
  startedAt: string;
  lastBetAt: string;
  /** Sequence number of its first entry. */
  firstSeq: string;
  /** Minor units as text. */
  wagered: string;
  lost: string;
}

/**
 * The newest session of play: accepted debits with less than `breakS` seconds between them, and the wins since the first.
 * Undefined for a player who never played. Takes a look-up per debit, so it goes back at most 24 hours; no limit on session
 * time is longer.
 */
export const findSession = (sql: ISql, playerId: string, breakS: number) =>
  firstRow(sql<SessionRow[]>`
    with recursive bet as (
      (select seq, at, at as newest from entries where player_id = ${playerId} and operation = 'debit'
        order by seq desc limit 1)
      union all
      select earlier.seq, earlier.at, bet.newest from bet cross join lateral (
        select seq, at from entries where player_id = ${playerId} and operation = 'debit' and seq < bet.seq
        order by seq desc limit 1) earlier
      where earlier.at <= ${sql.unsafe(latestCredible('bet.at'))}
        and bet.at - earlier.at < make_interval(secs => ${breakS}) and bet.newest - bet.at < interval '24 hours'
    ), session as (
      select min(seq) as first, (array_agg(at order by seq))[1] as started, max(at) as last from bet having count(*) > 0
    )
    select session.started as "startedAt", session.last as "lastBetAt", session.first as "firstSeq", sums.*
    from session cross join lateral (
      select ${countedSums(sql)}
      from (${countedEntries(sql)} where e.player_id = ${playerId} and e.seq >= session.first) counted
    ) sums`);
