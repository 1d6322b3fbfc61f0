import type { Sql } from 'postgres';
import type { Command, Policy } from './command.ts';
import { isExcluded } from './domain.ts';
import { idSpaceOf } from './id-space.ts';
import type { Profile } from './outcome.ts';
import type { Entry, State } from './state.ts';

/** The state that one command needs, and what is written back with its decision. */
export interface StoredState extends State {
  /** Number of the player's newest entry. */
  seq: bigint;
  profile: Profile | undefined;
  /** Whether debits and credits of the player are counted for limits. */
  isCounted: boolean;
  /** Number of the entry that a rollback names. */
  targetSeq: bigint | undefined;
}

interface EntryRow {
  playerId: string;
  seq: string;
  operation: Entry['operation'];
  transactionId: string;
  roundId: string | null;
  gameCode: string | null;
  amount: string;
  balanceAfter: string;
  reverses: string | null;
  roundClosed: boolean | null;
}

interface PlayerRow extends Profile {
  balance: string;
  seq: string;
  currency: string;
  status: string;
  excluded: boolean;
  isCounted: boolean;
}

interface Row {
  /** Milliseconds since 1970. */
  moment: number;
  player: PlayerRow | null;
  known: EntryRow | null;
  target: EntryRow | null;
  targetReversed: boolean;
  round: 'open' | 'closed' | null;
  gameEnabled: boolean;
  session: { playerId: string; expired: boolean } | null;
}

const entryOf = (row: EntryRow): Entry => {
  const { playerId, operation, transactionId, roundId, gameCode, reverses, roundClosed } = row;
  return {
    playerId,
    operation,
    transactionId,
    amount: BigInt(row.amount),
    balanceAfter: BigInt(row.balanceAfter),
    ...(roundId === null ? {} : { roundId }),
    ...(gameCode === null ? {} : { gameCode }),
    ...(reverses === null ? {} : { reverses }),
    ...(roundClosed === null ? {} : { roundClosed }),
  };
};

const stateOf = (row: Row, now: Date): StoredState => {
  const { player } = row;
  const state: StoredState = {
    seq: BigInt(player?.seq ?? 0),
    gameEnabled: row.gameEnabled,
    targetReversed: row.targetReversed,
    session: row.session ?? undefined,
    round: row.round ?? undefined,
    known: row.known ? entryOf(row.known) : undefined,
    target: row.target ? entryOf(row.target) : undefined,
    profile: undefined,
    isCounted: player?.isCounted ?? false,
    targetSeq: row.target ? BigInt(row.target.seq) : undefined,
  };
  if (player === null) return state;
  const { balance, currency, status, excluded: _, seq: __, isCounted: ___, ...profile } = player;
  state.profile = profile;
  state.player = {
    balance: BigInt(balance),
    currency,
    disabled: status === 'disabled',
    excluded: isExcluded(player, now),
  };
  return state;
};

/** bigint as text, since JSON numbers of JavaScript end at 2^53. */
const entryColumns = (sql: Sql, entry: string) => sql`json_build_object(
  'playerId', ${sql(entry)}.player_id, 'seq', ${sql(entry)}.seq::text, 'operation', ${sql(entry)}.operation,
  'transactionId', ${sql(entry)}.transaction_id, 'roundId', ${sql(entry)}.round_id,
  'gameCode', ${sql(entry)}.game_code, 'amount', ${sql(entry)}.amount::text,
  'balanceAfter', ${sql(entry)}.balance_after::text, 'reverses', ${sql(entry)}.reverses,
  'roundClosed', ${sql(entry)}.round_closed)`;

/**
 * Reads what `decide` has to know about each command, in the order of the commands, and the time by which it is
 * decided: `now`, or the time of the database.
 */
export const readStates = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<{ states: StoredState[]; moment: Date }> => {
  const column = (read: (command: Wide) => string | undefined) => commands.map((one) => read(one) ?? null);
  const rows = await sql<Row[]>`
    select (extract(epoch from clock.moment) * 1000)::float8 as moment,
      case when player.player_id is not null then json_build_object('balance', player.balance::text,
        'seq', player.seq::text, 'currency', player.currency, 'status', player.status, 'excluded', player.excluded,
        'excludedUntil', player.excluded_until, 'name', player.name, 'countryCode', player.country_code,
        'languageCode', player.language_code, 'birthDate', player.birth_date, 'address', player.address,
        'isCounted', player.limits_until is not null, 'registrationDate', (player.created_at at time zone 'UTC')::date) end as player,
      case when known.player_id is not null then ${entryColumns(sql, 'known')} end as known,
      case when target.player_id is not null then ${entryColumns(sql, 'target')} end as target,
      exists (select from entries reversal where reversal.reverses = command.reverses
        and reversal.id_space = command.id_space and reversal.operation = 'rollback' and reversal.amount > 0
      ) as "targetReversed",
      case when round.player_id is null then null when round.closed_at is null then 'open' else 'closed' end as round,
      coalesce(game.enabled, false) as "gameEnabled",
      case when session.player_id is not null then json_build_object('playerId', session.player_id,
        'expired', session.expires_at <= clock.moment) end as session
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
      left join rounds round on round.player_id = command.player_id and round.round_id = command.round_id
      left join games game on game.game_code = command.game_code
      left join sessions session on session.token_hash = command.session
    order by command.position`;
  const moment = new Date(rows[0]?.moment ?? Number.NaN);
  return { states: rows.map((row) => stateOf(row, moment)), moment };
};

/** All fields that any command has. */
export interface Wide {
  playerId: string;
  transactionId?: string;
  reverses?: string;
  roundId?: string;
  gameCode?: string;
  session?: string;
}
