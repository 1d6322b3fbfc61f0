import type { Sql } from 'postgres';

/** Inserts a game and 200 players, each with a large deposit. */
export const addPlayers = async (sql: Sql): Promise<void> => {
  await sql`insert into games values ('dice-alpha', 'Dice', true, now())`;
  await sql`insert into players (player_id, currency, balance, seq, created_at)
    select 'player-' || n, 'EUR', 100000000000, 1, now() from generate_series(0, 199) n`;
  await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
    select 'player-' || n, 1, 'deposit', 'start-' || n, 100000000000, 100000000000, now(), 'operator' from generate_series(0, 199) n`;
};

interface Key {
  table: string;
  name: string;
  /** The SQL that creates it; for a primary key, the part after the constraint name. */
  definition: string;
  primary: boolean;
}

const keysOf = (sql: Sql): Promise<Key[]> => sql<Key[]>`
  select t.relname as table, i.relname as name, x.indisprimary as primary,
    coalesce(pg_get_constraintdef(c.oid), pg_get_indexdef(i.oid)) as definition
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    left join pg_constraint c on c.conindid = i.oid and c.contype = 'p'
  where t.oid in ('public.entries'::regclass, 'public.rounds'::regclass)`;

/** Drops the keys while rows are inserted and creates them afterwards, which is several times faster. */
const withoutKeys = async (sql: Sql, fill: () => Promise<void>): Promise<void> => {
  const keys = await keysOf(sql);
  for (const { table, name, primary } of keys)
    await (primary
      ? sql`alter table ${sql(table)} drop constraint ${sql(name)}`
      : sql`drop index ${sql(name)}`);
  await fill();
  await sql`set maintenance_work_mem = '512MB'`;
  for (const { table, name, primary, definition } of keys)
    await sql.unsafe(primary ? `alter table ${table} add constraint ${name} ${definition}` : definition);
};

/**
 * Fills the ledger up to `entries` entries: rounds of a debit and a credit with random ids, spread over the hour before.
 * Each player's balance and sequence number match its last entry, so that the proof of the ledger succeeds.
 */
export const fillLedger = async (sql: Sql, entries: number): Promise<void> => {
  const [now] = await sql<{ count: number }[]>`select count(*)::int as count from entries`;
  const each = Math.floor((entries - (now?.count ?? 0)) / 400);
  await sql`set synchronous_commit = off`;
  await withoutKeys(sql, async () => {
    await sql`create temporary table played as
      select p.player_id, p.seq, p.balance, n, gen_random_uuid()::text as round, gen_random_uuid()::text as debit,
        gen_random_uuid()::text as credit, now() - interval '1 hour' * (1 - n::float8 / ${each}::int) as at
      from generate_series(1, ${each}::int) n, players p order by n`;
    await sql`insert into rounds select player_id, round, 'dice-alpha', at, at from played`;
    await sql`insert into entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after,
        round_closed, at, id_space)
      select player_id, seq + 2 * n - 1, 'debit', debit, round, 'dice-alpha', -1, balance - 1, null::boolean, at, 'game' from played
      union all
      select player_id, seq + 2 * n, 'credit', credit, round, 'dice-alpha', 1, balance, true, at, 'game' from played
      order by at`;
    await sql`update players set seq = seq + 2 * ${each}`;
    await sql`drop table played`;
  });
  await sql`reset synchronous_commit`;
  await sql`vacuum analyze entries`;
  await sql`vacuum analyze rounds`;
  await sql`checkpoint`;
};
