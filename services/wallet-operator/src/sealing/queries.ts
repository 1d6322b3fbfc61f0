import type { ISql, TransactionSql } from 'postgres';
import { checkpointHash, type Checkpoint } from '@platform/sealed-log/checkpoint';
import type { SealedEntry } from '@platform/sealed-log/evidence';
import { publicJwk, publicKeysOf, type SealingKey } from '@platform/sealed-log/keys';
import { entryColumns } from '../ledger/entry.ts';
import { firstRow, isoTime, firstValue } from '../db/sql.ts';

/** Consecutive entries of a player. */
export interface Run {
  playerId: string;
  firstSeq: string;
  lastSeq: string;
}

/** SQL: the hash of an entry `e` of a player `p`; `entryHash` of `sealed-log` is the same in TypeScript. */
const leafOfRow = (sql: ISql) => sql`
  sha256('\\x00'::bytea || convert_to(concat_ws(e'\\n', e.player_id, e.seq, e.operation, e.transaction_id,
    coalesce(e.round_id, ''), coalesce(e.game_code, ''), e.amount, e.balance_after, coalesce(e.reverses, ''),
    coalesce(e.round_closed::text, ''), ${isoTime(sql, sql`e.at`)}, e.id_space, p.currency), 'UTF8'))`;

const checkpointColumns = (sql: ISql) => sql`
  number::float8, entries, total::float8, previous, root, ${isoTime(sql, sql`sealed_at`)} as "sealedAt",
  key_id as "keyId", signature`;

/** The newest checkpoint that any process has signed. A checkpoint seals a range of entries; its row is in `sealed_ranges`. */
export interface SealedHead {
  number: number;
  hash: string;
}

export const readHead = (sql: ISql) =>
  firstRow(sql<[SealedHead]>`select number::float8, hash from sealed_head`);

/** Locks the head until the end of the transaction, so that only one process seals at a time. */
export const lockHead = (tx: TransactionSql) =>
  firstRow(tx<[SealedHead]>`select number::float8, hash from sealed_head for update`);

/** The next `limit` checkpoints after the number `after`. */
export const checkpointsAfter = (sql: ISql, after: bigint, limit: number) => sql<Checkpoint[]>`
  select ${checkpointColumns(sql)} from sealed_ranges where sealed_ranges.number > ${String(after)}
  order by sealed_ranges.number limit ${limit}`;

/** `limit` checkpoints, newest first, without the newest `skipped`. Numbers have no gaps, so no rows are read to skip them. */
export const newestCheckpoints = (sql: ISql, skipped: bigint, limit: number) => sql<Checkpoint[]>`
  select ${checkpointColumns(sql)} from sealed_ranges
  where sealed_ranges.number <= (select max(number) from sealed_ranges) - ${String(skipped)}::bigint
  order by sealed_ranges.number desc limit ${limit}`;

export const checkpointsByNumber = (sql: ISql, numbers: readonly number[]) => sql<Checkpoint[]>`
  select ${checkpointColumns(sql)} from sealed_ranges where sealed_ranges.number = any (${numbers.map(String)}::bigint[])
  order by sealed_ranges.number`;

/** The unsealed entries of these players, one run per player, in the order of the leaves. */
export const unsealedRuns = (sql: ISql, playerIds: readonly string[]) => sql<Run[]>`
  select player_id as "playerId", coalesce(newest.last_seq, 0) + 1 as "firstSeq", seq as "lastSeq"
  from players left join lateral (
    select last_seq from sealed_runs where player_id = players.player_id order by last_seq desc limit 1
  ) newest on true
  where player_id = any (${playerIds as string[]}) and seq > coalesce(newest.last_seq, 0)
  order by player_id collate "C"`;

/** The concatenated hashes of the entries of each run, by player; each player has one run. */
export const leavesOfRuns = async (sql: ISql, runs: readonly Run[]): Promise<Map<string, Buffer>> => {
  const rows = await sql<{ playerId: string; leaves: Buffer }[]>`
    select e.player_id as "playerId", string_agg(${leafOfRow(sql)}, ''::bytea order by e.seq) as leaves
    from unnest(${runs.map(({ playerId }) => playerId)}::text[], ${runs.map(({ firstSeq }) => firstSeq)}::bigint[],
      ${runs.map(({ lastSeq }) => lastSeq)}::bigint[]) as run (player_id, first_seq, last_seq)
    join entries e on e.player_id = run.player_id and e.seq between run.first_seq and run.last_seq
    join players p on p.player_id = e.player_id
    group by e.player_id`;
  return new Map(rows.map(({ playerId, leaves }) => [playerId, leaves]));
};

/** The concatenated hashes of the current entries of each checkpoint between `from` and `to`. */
export const leavesOfCheckpoints = (sql: ISql, from: number, to: number) => sql<
  { number: number; leaves: Buffer }[]
>`
  select run.number::float8, string_agg(${leafOfRow(sql)}, ''::bytea order by run.player_id collate "C", e.seq) as leaves
  from sealed_runs run join entries e on e.player_id = run.player_id and e.seq between run.first_seq and run.last_seq
    join players p on p.player_id = e.player_id
  where run.number between ${from} and ${to} group by run.number order by run.number`;

/** The runs of entries that the checkpoints between `from` and `to` seal. */
export const runsOfCheckpoints = (sql: ISql, from: number, to: number) => sql<Run[]>`
  select player_id as "playerId", first_seq as "firstSeq", last_seq as "lastSeq" from sealed_runs
  where number between ${from} and ${to} order by number, player_id`;

export const insertCheckpoint = async (
  tx: TransactionSql,
  checkpoint: Checkpoint,
  runs: readonly Run[],
): Promise<void> => {
  const { number, entries, total, previous, root, sealedAt, keyId, signature } = checkpoint;
  await tx`insert into sealed_ranges (number, entries, total, previous, root, sealed_at, key_id, signature)
    values (${number}, ${entries}, ${total}, ${previous}, ${root}, ${sealedAt}, ${keyId}, ${signature})`;
  await tx`insert into sealed_runs (number, player_id, first_seq, last_seq)
    select ${number}, run.* from unnest(${runs.map(({ playerId }) => playerId)}::text[],
      ${runs.map(({ firstSeq }) => firstSeq)}::bigint[], ${runs.map(({ lastSeq }) => lastSeq)}::bigint[]) run`;
  await tx`update sealed_head set number = ${number}, hash = ${checkpointHash(checkpoint)}`;
};

/** Adds the public key to the trusted ones. Looks for it first, because the role of the service may not insert. */
export const trustKey = async (sql: ISql, { keyId, x }: SealingKey): Promise<void> => {
  const [known] = await sql`select from sealing_keys where key_id = ${keyId}`;
  if (known === undefined)
    await sql`insert into sealing_keys (key_id, x, created_at) values (${keyId}, ${x}, now()) on conflict do nothing`;
};

/** Seconds since the newest checkpoint; null before the first. */
export const secondsSinceSeal = (sql: ISql) =>
  firstValue(sql<[{ value: number | null }]>`
    select extract(epoch from now() - (select sealed_at from sealed_ranges order by number desc limit 1))::float8 as value`);

/** The trusted public keys, newest first. */
export const listKeys = (sql: ISql) =>
  sql<{ x: string }[]>`select x from sealing_keys order by created_at desc, key_id`;

/** The trusted public keys by id. */
export const trustedKeys = async (sql: ISql) =>
  publicKeysOf({ keys: (await listKeys(sql)).map(({ x }) => publicJwk(x)) });

/** The next `limit` ids of players after `playerId`. */
export const playersAfter = async (sql: ISql, playerId: string, limit: number): Promise<string[]> => {
  const rows = await sql<{ playerId: string }[]>`
    select player_id as "playerId" from players where player_id > ${playerId} order by player_id limit ${limit}`;
  return rows.map((row) => row.playerId);
};

export interface PlacedEntry extends SealedEntry {
  /** Number of the checkpoint that seals it; null when it is not sealed yet. */
  checkpoint: number | null;
  /** Sequence number of the player's first entry in this checkpoint. */
  firstSeq: string | null;
  /** When the round was closed; null while it is open. */
  closedAt: string | null;
}

/** The first `limit` entries of a round with their checkpoints. Reads all entries of the player. */
export const placedEntries = (sql: ISql, playerId: string, roundId: string, limit: number) => sql<
  PlacedEntry[]
>`
  select ${entryColumns(sql, 'e')},
    run.number::float8 as checkpoint, run.first_seq as "firstSeq",
    ${isoTime(sql, sql`round.closed_at`)} as "closedAt"
  from entries e left join rounds round on round.player_id = e.player_id and round.round_id = e.round_id
    left join lateral (
      select * from sealed_runs where player_id = e.player_id and last_seq >= e.seq order by last_seq limit 1
    ) run on true
  where e.player_id = ${playerId} and e.round_id = ${roundId} order by e.seq limit ${limit}`;

/** The number of leaves of a checkpoint before those of the player. */
export const leavesBefore = (sql: ISql, number: number, playerId: string) =>
  firstValue(sql<[{ value: number }]>`
    select coalesce(sum(last_seq - first_seq + 1), 0)::float8 as value from sealed_runs
    where number = ${number} and player_id collate "C" < ${playerId} collate "C"`);
