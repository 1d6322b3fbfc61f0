import postgres from 'postgres';
import { pgbench } from '../pgbench.ts';

/**
 * A simple ledger to compare with: the service's own tables with their keys, indexes and checks, and a function that
 * looks the transaction up, takes the money, opens the round and writes the entry. Each debit is one transaction.
 */
const schema = `
  drop schema if exists baseline cascade;
  create schema baseline;
  create table baseline.players (like public.players including all) with (fillfactor = 50);
  create table baseline.rounds (like public.rounds including all) with (fillfactor = 85);
  create table baseline.entries (like public.entries including all);
  insert into baseline.players (player_id, currency, balance, created_at)
    select 'player-' || n, 'EUR', 100000000000, now() from generate_series(0, 199) n;
  create function baseline.debit(player text, transaction text, in_round text, game text, bet bigint) returns bigint
  language plpgsql as $$
  declare after bigint; number bigint;
  begin
    select balance_after into after from baseline.entries where transaction_id = transaction and id_space = 'game';
    if found then return after; end if;
    update baseline.players set balance = balance - bet, seq = seq + 1 where player_id = player and balance >= bet
      returning balance, seq into after, number;
    if not found then return -1; end if;
    insert into baseline.rounds (player_id, round_id, game_code, opened_at) values (player, in_round, game, now())
      on conflict do nothing;
    insert into baseline.entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after, at, id_space)
      values (player, number, 'debit', transaction, in_round, game, -bet, after, now(), 'game');
    return after;
  end $$`;

const connections = 16;

/** Creates the baseline's tables, empty, in a schema beside those of the service. */
export const prepareBaseline = async (url: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(schema);
  await sql.end();
};

/** Debits per second over 16 connections. */
export const baseline = (url: string, players: number, seconds: number): Promise<number> => {
  const script = `\\set p random(0, ${players - 1})
     select baseline.debit('player-' || :p, gen_random_uuid()::text, gen_random_uuid()::text, 'dice-alpha', 1);\n`;
  return pgbench(url, { script, connections, seconds, protocol: 'prepared' });
};
