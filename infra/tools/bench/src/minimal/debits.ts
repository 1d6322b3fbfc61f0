import postgres from 'postgres';
import { pgbench } from '../pgbench.ts';

/** The least a wallet needs: three tables with primary keys, and one function that moves the money of one debit. */
const schema = `
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

/** Creates the tables, empty, in a schema of their own. */
export const prepareDebits = async (url: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(schema);
  await sql.end();
};

/** Debits per second, one a transaction, over 16 connections with prepared statements. */
export const minimalDebits = (url: string, players: number, seconds: number): Promise<number> => {
  const script = `\\set p random(0, ${players - 1})
     select minimal.debit('player-' || :p, gen_random_uuid()::text, gen_random_uuid()::text, 1);\n`;
  return pgbench(url, { script, connections: 16, seconds, protocol: 'prepared' });
};
