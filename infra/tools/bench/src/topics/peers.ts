/**
 * The platform against a plain service (src/peers/plain.ts) that answers the same requests, side by side: one process
 * and one PostgreSQL each, with the same settings and rows, and in turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { inherited } from '../env.ts';
import { atLeast, compare, type Figure, type MeasureOptions, type Topic } from '../figure.ts';
import type { PlainSettings } from '../peers/plain.ts';
import { processedRate, rateOf } from '../rates.ts';
import { shippedOptions, startDatabase, startService, type BenchService } from '../service.ts';
import { fillConsignments } from '../subjects/consignments.ts';
import { fillQuest } from '../subjects/quest-service.ts';
import { openShop, startWebhooks, untilProcessed } from '../subjects/store-webhooks.ts';
import { startTasks } from '../subjects/task-manager.ts';
import { secret, players, sendDebits, startWallet } from '../subjects/wallet-operator.ts';

export interface Program extends AsyncDisposable {
  url: string;
}

/**
 * Starts a baseline that is written in TypeScript, as a process of its own with the Node options of the image.
 * @param argument what the program gets as its first argument
 * @returns the address that it prints when it is ready
 * @throws when it ends before
 */
const startProgram = async (file: URL, argument: string, nodeOptions: string): Promise<Program> => {
  const child = spawn(process.execPath, [file.pathname, argument], {
    env: { ...inherited, NODE_ENV: 'production', NODE_OPTIONS: nodeOptions },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [address] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null];
  if (!(address instanceof Buffer)) throw new Error(`${file.pathname} ended before it was ready`);
  return {
    url: address.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
};

/** Copies the columns that both tables have, in batches of rows. */
const copyRows = async (from: Sql, to: Sql, table: string): Promise<void> => {
  const rows = from<{ row: object }[]>`select to_json(t) as row from ${from(table)} t`;
  await rows.cursor(10_000, async (some) => {
    const text = JSON.stringify(some.map(({ row }) => row));
    await to`insert into ${to(table)} select * from json_populate_recordset(null::${to(table)}, ${text}::text::json)`;
  });
};

/**
 * Starts the plain service with a PostgreSQL of its own, which is set up like that of the service.
 * @param tables whose rows are copied from the service
 */
const startPlain = async ({ keys, sql }: BenchService, tables: readonly string[]) => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startDatabase());
  await database.sql.unsafe(readFileSync(new URL('../peers/plain.sql', import.meta.url), 'utf8'));
  for (const table of tables) await copyRows(sql, database.sql, table);
  await database.sql`vacuum analyze`;
  const { jwks, issuer, audience } = keys;
  const settings: PlainSettings = { databaseUrl: database.url, hmacSecret: secret, jwks, issuer, audience };
  const file = new URL('../peers/plain.ts', import.meta.url);
  const { url } = stack.use(await startProgram(file, JSON.stringify(settings), shippedOptions()));
  const owned = stack.move();
  return { url, sql: database.sql, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};

const debits = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using wallet = await startWallet();
  await using plain = await startPlain(wallet, ['players']);
  const over = (count: number) => ({
    ours: async () => (await sendDebits(wallet, { seconds, over: count })).perSecond,
    baseline: async () => (await sendDebits(plain, { seconds, over: count })).perSecond,
  });
  return [
    await compare({ what: 'Signed debits of 200 players', bound: atLeast(4, '×'), ...over(players) }),
    await compare({ what: 'Signed debits of one player', bound: atLeast(8, '×'), ...over(1) }),
  ];
};

const webhooks = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using service = await startWebhooks();
  const shop = await openShop(service);
  await using plain = await startPlain(service, []);
  await plain.sql`insert into stores values (${shop.id}, ${shop.token})`;
  const plainJobs = () => untilProcessed(plain.sql, plain.sql`graphile_worker._private_jobs`);
  return [
    await compare({
      what: 'Webhooks stored and processed',
      bound: atLeast(4, '×'),
      ours: () => processedRate(service.url, shop, seconds, () => untilProcessed(service.sql)),
      baseline: () => processedRate(plain.url, shop, seconds, plainJobs),
      note: 'from the first one sent to the last one processed',
    }),
  ];
};

const questions = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using service = await startService('quest-service');
  const path = await fillQuest(service, 25);
  await using plain = await startPlain(service, ['questions']);
  return [
    await compare({
      what: '25 questions',
      bound: atLeast(3, '×'),
      ours: () => rateOf(service.url, { path }, { seconds }),
      baseline: () => rateOf(plain.url, { path }, { seconds }),
      warmUp: 4,
    }),
  ];
};

const tasks = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  const { service, list, userId } = await startTasks();
  await using started = service;
  await using plain = await startPlain(started, ['tasks']);
  const own = list(1);
  const headers = { Authorization: `Bearer ${await started.keys.token({ sub: userId, ttl: 7200 })}` };
  return [
    await compare({
      what: '20 of 10,000 tasks of a user, with authentication',
      bound: atLeast(2, '×'),
      ours: () => rateOf(started.url, own, { seconds }),
      baseline: () => rateOf(plain.url, { ...own, headers }, { seconds }),
      warmUp: 4,
      note: 'the plain service does not look whether the session has ended',
    }),
  ];
};

const million = 1_000_000;

const consignments = async ({ seconds = 8 }: MeasureOptions): Promise<Figure[]> => {
  await using service = await startService('consignments');
  await fillConsignments(service.sql, million);
  await using plain = await startPlain(service, ['consignments']);
  const token = await service.keys.token({ scope: 'consignments:read', ttl: 7200 });
  const page = (index: number) => {
    const headers = { Authorization: `Bearer ${token}` };
    const request = { path: `/v1/consignments?PageIndex=${index}`, headers };
    const plan = { connections: 16, seconds };
    return {
      ours: () => rateOf(service.url, request, plan),
      baseline: () => rateOf(plain.url, request, plan),
      note: 'with the exact total; 16 connections',
    };
  };
  return [
    await compare({ what: 'First page of 1,000,000 consignments', bound: atLeast(40, '×'), ...page(0) }),
    await compare({
      what: 'Last page of 1,000,000 consignments',
      bound: atLeast(60, '×'),
      ...page(million / 25 - 1),
    }),
  ];
};

export const topic: Topic = {
  title: 'The platform against a plain service',
  parts: { debits, webhooks, questions, tasks, consignments },
};
