/** The change feed: reading it, its cost for writes, and deliveries to subscribers. */
import { randomInt } from 'node:crypto';
import type { Sql } from 'postgres';
import { deliveries } from '../deliveries.ts';
import {
  atMost,
  p99,
  repeat,
  atLeast,
  compare,
  type Figure,
  type MeasureOptions,
  type Topic,
} from '../figure.ts';
import type { LoadRequest } from '../load.ts';
import { processedRate } from '../rates.ts';
import { startService } from '../service.ts';
import { fillConsignments, importRate } from '../subjects/consignments.ts';
import { createStore, startWebhooks, waitUntilProcessed } from '../subjects/store-webhooks.ts';
import { timedRequest } from './lists.ts';

const [records, entries] = [1_000_000, 10_000_000];
const [runs, pages] = [3, 200];

/** Inserts `entries` changes, a quarter for each list; those of consignments have existing records. */
const fillLog = async (sql: Sql): Promise<void> => {
  await sql`create table numbered as select row_number() over () as n, id from consignments`;
  await sql`
    insert into feed_log (position, stamp, list, record, action, changed_at)
    select at, at / 500, (array['partners', 'inventory', 'warehouses', 'consignments'])[1 + at % 4], id, 'updated', now()
    from generate_series(1, ${entries}::int) at join numbered on n = at % ${records} + 1`;
  await sql`update feed_state set position = ${entries}, stamp = ${entries} / 500`;
  await sql`drop table numbered`;
  await sql`vacuum analyze feed_log`;
};

/** Request for the page after a random position of the log. */
const randomPage = async (sql: Sql, headers: Record<string, string>): Promise<LoadRequest> => {
  const [row] = await sql<[{ cursor: string }]>`
    select encode(uuid_send(epoch) || int8send(log.position) || int8send(log.stamp), 'base64') as cursor
    from feed_state, feed_log log where log.position = ${randomInt(entries)}`;
  const after = Buffer.from(row.cursor, 'base64').toString('base64url');
  return { path: `/v1/feeds/consignments/consignments?limit=1000&after=${after}`, headers };
};

/** Pages of the feed at random positions of a long log, and an export of all records while list pages are read. */
const log = async (): Promise<Figure[]> => {
  await using service = await startService('consignments');
  const { sql, url, keys } = service;
  await fillConsignments(sql, records);
  await fillLog(sql);
  const headers = { Authorization: `Bearer ${await keys.token({ scope: 'consignments:read', ttl: 7200 })}` };
  const page = async () => (await timedRequest(url, await randomPage(sql, headers))).ms;
  await repeat(30, page);
  const times = await repeat(runs, async () => p99(await repeat(pages, page)));

  const whileExporting = async () => {
    const start = performance.now();
    let isRunning = true;
    const listTimes: number[] = [];
    const read = async () => {
      while (isRunning)
        listTimes.push((await timedRequest(url, { path: '/v1/consignments?PageIndex=20000', headers })).ms);
    };
    const reading = read();
    const response = await fetch(`${url}/v1/feeds/consignments/consignments/export`, { headers });
    let lines = 0;
    for await (const chunk of response.body ?? []) for (const byte of chunk) if (byte === 10) lines++;
    const seconds = (performance.now() - start) / 1000;
    isRunning = false;
    await reading;
    if (lines !== records + 1) throw new Error(`the export has ${lines} lines`);
    return { seconds, listP99: p99(listTimes) };
  };
  const exports = await repeat(runs, whileExporting);
  return [
    {
      label: '1,000 changes with their records, at any place of 10,000,000, p99',
      bound: atMost(10, 'ms'),
      samples: times,
    },
    {
      label: 'Export of 1,000,000 consignments',
      bound: atMost(60_000, 'ms'),
      samples: exports.map(({ seconds }) => seconds * 1000),
    },
    {
      label: 'A page in the middle of the list meanwhile, p99',
      bound: atMost(15, 'ms'),
      samples: exports.map(({ listP99 }) => listP99),
    },
  ];
};

/** Measures while the triggers that write changes to the log are disabled. */
const withoutFeed = async (sql: Sql, measure: () => Promise<number>): Promise<number> => {
  const triggers = await sql<{ name: string; onTable: string }[]>`
    select tgname as name, relname as "onTable" from pg_trigger join pg_class on pg_class.oid = tgrelid
    where tgname ~ '_feed_(insert|update|delete)$'`;
  const setTriggers = async (state: 'enable' | 'disable') => {
    for (const { name, onTable } of triggers)
      await sql.unsafe(`alter table ${onTable} ${state} trigger ${name}`);
  };
  await setTriggers('disable');
  try {
    return await measure();
  } finally {
    await setTriggers('enable');
  }
};

/** Cost of the log for writes. */
const writes = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using webhooks = await startWebhooks();
  const store = await createStore(webhooks);
  const webhookRate = () =>
    processedRate(webhooks.url, store, seconds, () => waitUntilProcessed(webhooks.sql));
  await using consignments = await startService('consignments');
  const consignmentRate = () => importRate(consignments, 20_000);
  return [
    await compare({
      label: 'Webhooks stored and processed, against the same without the log of changes',
      bound: atLeast(0.9, '×'),
      ours: webhookRate,
      baseline: () => withoutFeed(webhooks.sql, webhookRate),
      rounds: 9,
    }),
    await compare({
      label: 'Consignments imported, against the same without the log of changes',
      bound: atLeast(0.85, '×'),
      ours: consignmentRate,
      baseline: () => withoutFeed(consignments.sql, consignmentRate),
      rounds: 9,
    }),
  ];
};

export const topic: Topic = {
  title: 'Change feed and outgoing webhooks',
  parts: { log, writes, deliveries },
};
