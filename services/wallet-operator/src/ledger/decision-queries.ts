import type { ISql } from 'postgres';
import { jsonRows } from '../db/sql.ts';
import { entries, rounds } from '../db/tables.ts';
import { decisionTime, lastExcludedDay } from '../db/time.ts';
import { idSpaceOf, type AnyCommand, type Command, type Policy } from './command.ts';
import { entryColumns, parseEntry, type Entry, type StoredEntry } from './entry.ts';
import { insertRefusals, type NewRefusal } from './refusals.ts';
import { isSessionOpen, laterEnd } from './sessions.ts';
import type { Player, Session, State } from './state.ts';

/** A state as JSON: times in milliseconds since 1970, int64 as text. */
interface Row extends Omit<State, 'clock' | 'player' | 'known' | 'target' | 'limits'> {
  moment: number;
  clock: number;
  player: (Omit<Player, 'balance' | 'seq'> & { balance: string; seq: string }) | null;
  known: StoredEntry | null;
  target: StoredEntry | null;
}

const stateOf = ({ moment: _moment, clock, player, known, target, ...state }: Row): State => ({
  ...state,
  clock: new Date(clock),
  player: player && { ...player, balance: BigInt(player.balance), seq: BigInt(player.seq) },
  known: known && parseEntry(known),
  target: target && parseEntry(target),
});

/**
 * Locks players until the end of the transaction, in the same order as `commitMoves`, so that batches cannot deadlock. All
 * writes for a player happen under this lock, so later statements of the transaction read the newest state.
 */
export const lockPlayers = (sql: ISql, playerIds: ReadonlySet<string>) =>
  sql.unsafe(
    'select from players where player_id = any ($1::text[]) order by player_id collate "C" for no key update',
    [[...playerIds]],
    { prepare: true },
  );

/** Reads the state for `decisionOf` in the order of the commands, and the time of the batch: `now`, or that of the database. */
export const readStates = async (
  sql: ISql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<{ states: State[]; moment: Date }> => {
  const entryJson = (alias: string) => sql`case when ${sql(alias)}.player_id is not null then (
        select row_to_json(entry) from (
          select ${entryColumns(sql, alias)}, ${sql(alias)}.named_round_id as "namedRoundId") entry) end`;
  const column = (read: (command: AnyCommand) => string | undefined) =>
    commands.map((command) => read(command) ?? null);
  const times = { ttl: policy.sessionTtlS, longest: policy.sessionMaxS };
  const rows = await sql<Row[]>`
    select (extract(epoch from clock.moment) * 1000)::float8 as moment,
      (extract(epoch from ${sql.unsafe(decisionTime('clock.moment', 'player.decided_at'))}) * 1000)::float8 as clock,
      case when player.player_id is not null then json_build_object('balance', player.balance::text,
        'seq', player.seq::text, 'currency', player.currency, 'disabled', player.status = 'disabled',
        'excluded', coalesce(player.excluded_until > clock.moment, false)) end as player,
      case when player.player_id is not null then json_build_object('name', player.name,
        'countryCode', player.country_code, 'languageCode', player.language_code, 'birthDate', player.birth_date,
        'registrationDate', coalesce(player.registration_date, (player.created_at at time zone 'UTC')::date), 'address', player.address,
        'excludedUntil', ${sql.unsafe(lastExcludedDay('player'))}) end as profile,
      player.limits_until is not null as "isCounted",
      ${entryJson('known')} as known,
      ${entryJson('target')} as target,
      exists (select from entries reversal where reversal.reverses = command.reverses
        and reversal.id_space = command.id_space and reversal.operation = 'rollback' and reversal.amount > 0
      ) as "targetReversed",
      case when round.player_id is null then null when round.closed_at is null then 'open' else 'closed' end as round,
      coalesce(round.promotional, false) as "isPromotional",
      coalesce(game.enabled, false) as "gameEnabled",
      case when session.player_id is not null then json_build_object('playerId', session.player_id,
        'gameCode', session.game_code, 'expired', not ${sql.unsafe(isSessionOpen('session', 'game', 'clock.moment'))},
        'laterEnd', ${sql.unsafe(laterEnd('session', 'clock.moment', times))}) end as session
    from unnest(
        ${column(({ playerId }) => playerId)}::text[], ${column(({ transactionId }) => transactionId)}::text[],
        ${commands.map((command) => idSpaceOf(command, policy.transactionIds))}::text[],
        ${column(({ reverses }) => reverses)}::text[], ${column(({ roundId }) => roundId)}::text[],
        ${column(({ gameCode }) => gameCode)}::text[], ${column(({ session }) => session)}::text[]
      ) with ordinality as command (
        player_id, transaction_id, id_space, reverses, round_id, game_code, session, position)
      cross join (select coalesce(${now?.toISOString() ?? null}::timestamptz, now()) as moment) clock
      left join players player on player.player_id = command.player_id
      left join entries known on known.transaction_id = command.transaction_id and known.id_space = command.id_space
      left join entries target on target.transaction_id = command.reverses and target.id_space = command.id_space
      -- A rollback belongs to the round of its debit (roundOfRollback in domain.ts).
      left join rounds round on round.player_id = command.player_id and round.round_id =
        case when target.operation = 'debit' and target.player_id = command.player_id then target.round_id
          else command.round_id end
      left join games game on game.game_code = command.game_code
      left join sessions session on session.token_hash = command.session
    order by command.position`;
  const moment = new Date(rows[0]?.moment ?? Number.NaN);
  return { states: rows.map(stateOf), moment };
};

/** A round that is new or changes its state. */
interface RoundChange extends Omit<typeof rounds.$inferSelect, 'openedAt' | 'closedAt'> {
  closed: boolean;
}

/** The rows that a batch writes. */
export interface Writes {
  entries: Entry[];
  rounds: RoundChange[];
  audit: { playerId: string; details: Record<string, unknown> }[];
  refusals: NewRefusal[];
  /** The time of the decisions, by player. */
  clocks: Map<string, Date>;
  /** Sessions that are extended to their `laterEnd`, by the hash of their token. */
  sessions: Map<string, Session>;
}

/** Writes decisions in one statement. The transaction must have locked the players of the entries. */
export const insertDecisions = async (sql: ISql, writes: Writes, now: Date): Promise<void> => {
  const atOf = (playerId: string): string => (writes.clocks.get(playerId) ?? now).toISOString();
  const entryRows = jsonRows(
    entries,
    writes.entries.map((entry) => ({ ...entry, at: atOf(entry.playerId) })),
  );
  const roundRows = jsonRows(
    rounds,
    writes.rounds.map(({ closed, ...round }) => {
      const openedAt = atOf(round.playerId);
      return { ...round, openedAt, closedAt: closed ? openedAt : null };
    }),
  );
  const auditRows = writes.audit.map(({ playerId, details }) => ({ player_id: playerId, details }));
  await sql`
    with new_entries as (
      insert into entries select * from json_populate_recordset(null::entries, ${entryRows}::text::json)
      returning player_id, seq, balance_after, at
    ), new_rounds as (
      insert into rounds select * from json_populate_recordset(null::rounds, ${roundRows}::text::json)
      -- After the day on which the round was opened the flag stays, because the sums of that day are final.
      on conflict (player_id, round_id) do update set closed_at = excluded.closed_at,
        promotional = case when date_trunc('day', rounds.opened_at, 'UTC') = date_trunc('day', excluded.opened_at, 'UTC')
          then excluded.promotional else rounds.promotional end
    ), new_balances as (
      -- An upsert finds its rows by their key under every plan.
      insert into players (player_id, currency, balance, seq, created_at, decided_at)
      select distinct on (player_id) player_id, '', balance_after, seq, at, at
      from new_entries order by player_id, seq desc
      on conflict (player_id) do update set balance = excluded.balance, seq = excluded.seq,
        decided_at = excluded.decided_at
    ) ${writes.refusals.length > 0 ? sql`, new_refusals as (${insertRefusals(sql, writes.refusals)})` : sql``}
    insert into audit_events (at, kind, player_id, details)
    select ${now.toISOString()}, 'callback', player_id, details
    from json_to_recordset(${JSON.stringify(auditRows)}::text::json) as event (player_id text, details jsonb)`;
};

/** Extends sessions. A session that was ended meanwhile stays ended. */
export const extendSessions = (sql: ISql, sessions: Writes['sessions'], now: Date) => {
  const rows = [...sessions].map(([hash, session]) => ({ hash, ...session }));
  // The rows exist, and all transactions lock them in this order, as in ordinary-moves.ts.
  return sql`
    insert into sessions (token_hash, player_id, game_code, created_at, expires_at)
    select hash, "playerId", "gameCode", ${now.toISOString()}, "laterEnd" from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as session (hash text, "playerId" text, "gameCode" text, "laterEnd" timestamptz) order by hash
    on conflict (token_hash) do update set expires_at = excluded.expires_at
      where sessions.expires_at > excluded.created_at`;
};
