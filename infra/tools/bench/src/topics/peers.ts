/**
 * Compares the platform with a plain service (src/peers/plain.ts) that answers the same requests. Each has one process
 * and one PostgreSQL with the same settings and rows; they are measured in turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { inherited } from '../env.ts';
import { atLeast, compare, type Figure, type MeasureOptions, type Topic } from '../figure.ts';
import type { PlainSettings } from '../peers/plain.ts';
import { processedRate, requestRate } from '../rates.ts';
import { imageNodeOptions, startDatabase, startService, type BenchService } from '../service.ts';
import { fillConsignments } from '../subjects/consignments.ts';
import { fillQuest } from '../subjects/quest-service.ts';
import { createStore, startWebhooks, waitUntilProcessed } from '../subjects/store-webhooks.ts';
import { startTasks } from '../subjects/task-manager.ts';
import { secret, players, sendDebits, startWallet } from '../subjects/wallet-operator.ts';

/** Starts the process of the plain service, which prints its address when it is ready. */
const startProcess = async (settings: PlainSettings) => {
  const file = new URL('../peers/plain.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    env: { ...inherited, NODE_ENV: 'production', NODE_OPTIONS: imageNodeOptions() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [address] = (await Promise.race([once(child.stdout, 'data'), exited])) as [Buffer | number | null];
  if (!(address instanceof Buffer)) throw new Error(`${file} exited before it was ready`);
  return {
    url: address.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await exited;
    },
  };
};

/** Copies the columns that exist in both tables, 10,000 rows at a time. */
const copyRows = async (from: Sql, to: Sql, table: string): Promise<void> => {
  const rows = from<{ row: object }[]>`select to_json(t) as row from ${from(table)} t`;
  await rows.cursor(10_000, async (batch) => {
    const text = JSON.stringify(batch.map(({ row }) => row));
    await to`insert into ${to(table)} select * from json_populate_recordset(null::${to(table)}, ${text}::text::json)`;
  });
};

/**
 * Starts the plain service with a PostgreSQL of its own.
 * @param tables the service's tables to copy
 */
const startPlain = async ({ keys, sql }: BenchService, tables: readonly string[]) => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startDatabase());
  await database.sql.unsafe(readFileSync(new URL('../peers/plain.sql', import.meta.url), 'utf8'));
  for (const table of tables) await copyRows(sql, database.sql, table);
  await database.sql`vacuum analyze`;
  const { jwks, issuer, audience } = keys;
  const settings: PlainSettings = { databaseUrl: database.url, hmacSecret: secret, jwks, issuer, audience };
  const { url } = stack.use(await startProcess(settings));
  return Object.assign(stack.move(), { url, sql: database.sql });
};

const debits = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using wallet = await startWallet();
  await using plain = await startPlain(wallet, ['players']);
  const rates = (playerCount: number) => ({
    ours: async () => (await sendDebits(wallet, { seconds, playerCount })).perSecond,
    baseline: async () => (await sendDebits(plain, { seconds, playerCount })).perSecond,
  });
  return [
    await compare({ label: 'Signed debits of 200 players', bound: atLeast(4, '×'), ...rates(players) }),
    await compare({ label: 'Signed debits of one player', bound: atLeast(8, '×'), ...rates(1) }),
  ];
};

const webhooks = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using service = await startWebhooks();
  const store = await createStore(service);
  await using plain = await startPlain(service, []);
  await plain.sql`insert into stores values (${store.id}, ${store.token})`;
  const plainJobs = () => waitUntilProcessed(plain.sql, plain.sql`graphile_worker._private_jobs`);
  return [
    await compare({
      label: 'Webhooks stored and processed',
      bound: atLeast(4, '×'),
      ours: () => processedRate(service.url, store, seconds, () => waitUntilProcessed(service.sql)),
      baseline: () => processedRate(plain.url, store, seconds, plainJobs),
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
      label: '25 questions',
      bound: atLeast(3, '×'),
      ours: () => requestRate(service.url, { path }, { seconds }),
      baseline: () => requestRate(plain.url, { path }, { seconds }),
      warmUp: 4,
    }),
  ];
};

const tasks = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  const { service, list, userId } = await startTasks();
  await using started = service;
  await using plain = await startPlain(started, ['tasks']);
  const request = list(1);
  const headers = { Authorization: `Bearer ${await started.keys.token({ sub: userId, ttl: 7200 })}` };
  return [
    await compare({
      label: '20 of 10,000 tasks of a user, with authentication',
      bound: atLeast(2, '×'),
      ours: () => requestRate(started.url, request, { seconds }),
      baseline: () => requestRate(plain.url, { ...request, headers }, { seconds }),
      warmUp: 4,
      note: 'the plain service does not check whether the session has ended',
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
      ours: () => requestRate(service.url, request, plan),
      baseline: () => requestRate(plain.url, request, plan),
      note: 'with the exact total; 16 connections',
    };
  };
  return [
    await compare({ label: 'First page of 1,000,000 consignments', bound: atLeast(40, '×'), ...page(0) }),
    await compare({
      label: 'Last page of 1,000,000 consignments',
      bound: atLeast(60, '×'),
      ...page(million / 25 - 1),
    }),
  ];
};

export const topic: Topic = {
  title: 'The platform against a plain service',
  parts: { debits, webhooks, questions, tasks, consignments },
};
