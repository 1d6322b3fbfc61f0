import type { Sql } from 'postgres';
import { pgbench } from '../pgbench.ts';
import { orderBody } from '../subjects/store-webhooks.ts';

/** The least a wallet needs: three tables with primary keys, and one function that moves the money of one debit. */
const wallet = `
  drop schema if exists minimal cascade;
  create schema minimal;
  create table minimal.account (player_id text primary key, balance bigint not null) with (fillfactor = 50);
  create table minimal.round (player_id text, round_id text, primary key (player_id, round_id));
  create table minimal.transaction (transaction_id text primary key, player_id text not null,
    round_id text not null, amount bigint not null);
  insert into minimal.account select 'player-' || n, 100000000000 from generate_series(0, 199) n;
  create function minimal.debit(player text, transaction text, in_round text, bet bigint) returns bigint
  language plpgsql as $$
  declare rest bigint;
  begin
    update minimal.account set balance = balance - bet where player_id = player and balance >= bet
      returning balance into rest;
    if not found then return -1; end if;
    insert into minimal.round values (player, in_round) on conflict do nothing;
    insert into minimal.transaction values (transaction, player, in_round, bet);
    return rest;
  end $$`;

interface Server {
  sql: Sql;
  databaseUrl: string;
}

/** Debits per second on new tables, spread over `players`. */
export const minimalDebits = async (
  { sql, databaseUrl }: Server,
  players: number,
  seconds: number,
): Promise<number> => {
  await sql.unsafe(wallet);
  const script = `\\set p random(0, ${players - 1})
     select minimal.debit('player-' || :p, gen_random_uuid()::text, gen_random_uuid()::text, 1);\n`;
  return pgbench(databaseUrl, script, seconds);
};

/** The least an inbox needs: the body, and a key that keeps a second copy out. Rows of 1.2 kB per second. */
export const minimalWebhooks = async ({ sql, databaseUrl }: Server, seconds: number): Promise<number> => {
  await sql`create schema if not exists minimal`;
  await sql`drop table if exists minimal.webhook`;
  await sql`create table minimal.webhook (key bytea primary key, body bytea not null)`;
  // pgbench reads a colon before a word as one of its variables.
  const body = orderBody('minimal').replaceAll(/:(?=\w)/g, ': ');
  const script = `insert into minimal.webhook values (uuid_send(gen_random_uuid()), '${body}') on conflict do nothing;\n`;
  return pgbench(databaseUrl, script, seconds);
};
