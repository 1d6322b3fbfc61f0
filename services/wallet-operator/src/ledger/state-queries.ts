import type { ISql } from 'postgres';
import { decisionTime, lastExcludedDay } from '../db/time.ts';
import { idSpaceOf, type AnyCommand, type Command, type Policy } from './command.ts';
import { entryColumns, parseEntry, type StoredEntry } from './entry.ts';
import type { Player, State } from './state.ts';
import { isSessionOpen, laterEnd } from './sessions.ts';

/** A state as it is read: times in milliseconds since 1970, int64 as text. */
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
 * Locks players until the end of the transaction, in the same order as `commitMoves`, so that two batches never wait for
 * each other in a circle. Everything that is written for a player is written under this lock, so a later statement of
 * the transaction sees the newest state.
 */
export const lockPlayers = (sql: ISql, playerIds: ReadonlySet<string>) =>
  sql.unsafe(
    'select from players where player_id = any ($1::text[]) order by player_id collate "C" for no key update',
    [[...playerIds]],
    { prepare: true },
  );

/**
 * Reads what `decisionOf` has to know about each command, in the order of the commands, and the time by which it is
 * decided: `now`, or the time of the database.
 */
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
