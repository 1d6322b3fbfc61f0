import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { inherited } from '../env.ts';

/** A wallet as one would first write it: one function, one row, one transaction a debit. */
const schema = `
  drop schema if exists baseline cascade;
  create schema baseline;
  create table baseline.accounts (id text primary key, balance bigint not null check (balance >= 0)) with (fillfactor = 50);
  create table baseline.rounds (account text, round text, opened timestamptz not null, primary key (account, round));
  create table baseline.entries (id text primary key, account text not null, round text not null,
    amount bigint not null, balance_after bigint not null, at timestamptz not null);
  insert into baseline.accounts select 'player-' || n, 100000000000 from generate_series(0, 199) n;
  create function baseline.debit(player text, transaction text, in_round text, bet bigint) returns bigint language plpgsql as $$
  declare after bigint;
  begin
    select balance_after into after from baseline.entries where id = transaction;
    if found then return after; end if;
    update baseline.accounts set balance = balance - bet where id = player and balance >= bet returning balance into after;
    if not found then return -1; end if;
    insert into baseline.rounds values (player, in_round, now()) on conflict do nothing;
    insert into baseline.entries values (transaction, player, in_round, -bet, after, now());
    return after;
  end $$`;

const program = 'pgbench';

export const hasPgbench = spawnSync(program, ['--version']).error === undefined;

const connections = 16;

const withPgbench = async (url: string, players: number, seconds: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const script = join(folder, 'debit.sql');
  writeFileSync(
    script,
    `\\set p random(0, ${players - 1})
     select baseline.debit('player-' || :p, gen_random_uuid()::text, gen_random_uuid()::text, 1);\n`,
  );
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(connections),
    '-j',
    '1',
    '-T',
    String(seconds),
    '-f',
    script,
  ];
  const child = spawn(program, [...args, url], { env: inherited, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (data) => (text += String(data)));
  await once(child, 'close');
  rmSync(folder, { recursive: true });
  return Number(/tps = ([\d.]+)/.exec(text)?.[1]);
};

const withDriver = async (url: string, players: number, seconds: number): Promise<number> => {
  const sql = postgres(url, { max: connections });
  const end = performance.now() + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const player = `player-${Math.floor(Math.random() * players)}`;
        await sql`select baseline.debit(${player}, ${crypto.randomUUID()}, ${crypto.randomUUID()}, 1)`;
        done += 1;
      }
    }),
  );
  await sql.end();
  return done / seconds;
};

/** Makes the baseline's tables, empty, beside those of the service. */
export const prepareBaseline = async (url: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(schema);
  await sql.end();
};

/** Debits a second over 16 connections, by pgbench where it is installed, else by the driver. */
export const baseline = (url: string, players: number, seconds: number): Promise<number> =>
  hasPgbench ? withPgbench(url, players, seconds) : withDriver(url, players, seconds);
