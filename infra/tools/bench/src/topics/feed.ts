/** The change feed: reading it, its cost for writes, and deliveries to subscribers. */
import { randomInt } from 'node:crypto';
import type { Sql } from 'postgres';
import { deliveries } from '../deliveries.ts';
import { atLeast, atMost, compare, p99, repeat } from '../figure.ts';
import type { Figure, MeasureOptions, Topic } from '../figure.ts';
import type { LoadRequest } from '../load.ts';
import { processedRate } from '../rates.ts';
import { startService } from '../service.ts';
import { fillConsignments, importRate } from '../subjects/consignments.ts';
import { createStore, startWebhooks, waitUntilProcessed } from '../subjects/store-webhooks.ts';
import { timedRequest } from './lists.ts';

const [recordCount, changeCount] = [1_000_000, 10_000_000];
const [runs, pagesPerRun] = [3, 200];

/** Inserts `changeCount` changes, a quarter for each list; those of consignments refer to existing records. */
const fillLog = async (sql: Sql): Promise<void> => {
  await sql`create table numbered as select row_number() over () as n, id from consignments`;
  await sql`
    insert into feed_log (position, stamp, list, record, action, changed_at)
    select position, position / 500, (array['partners', 'inventory', 'warehouses', 'consignments'])[1 + position % 4],
      id, 'updated', now()
    from generate_series(1, ${changeCount}::int) position join numbered on n = position % ${recordCount} + 1`;
  await sql`update feed_state set position = ${changeCount}, stamp = ${changeCount} / 500`;
  await sql`drop table numbered`;
  await sql`vacuum analyze feed_log`;
};

/** Returns the request for the page after a random position of the log. */
const randomPageRequest = async (sql: Sql, headers: Record<string, string>): Promise<LoadRequest> => {
  const [row] = await sql<[{ cursor: string }]>`
    select encode(uuid_send(epoch) || int8send(log.position) || int8send(log.stamp), 'base64') as cursor
    from feed_state, feed_log log where log.position = ${randomInt(changeCount)}`;
  const after = Buffer.from(row.cursor, 'base64').toString('base64url');
  return { path: `/v1/feeds/consignments/consignments?limit=1000&after=${after}`, headers };
};

/** Measures pages at random positions of a long log, and an export of all records while list pages are read. */
const log = async (): Promise<Figure[]> => {
  await using service = await startService('consignments');
  const { sql, url, keys } = service;
  await fillConsignments(sql, recordCount);
  await fillLog(sql);
  const headers = { Authorization: `Bearer ${await keys.token({ scope: 'consignments:read', ttl: 7200 })}` };
  const timePage = async () => (await timedRequest(url, await randomPageRequest(sql, headers))).ms;
  // Warm-up.
  await repeat(30, timePage);
  const pageTimes = await repeat(runs, async () => p99(await repeat(pagesPerRun, timePage)));

  const measureExport = async () => {
    const start = performance.now();
    let isExporting = true;
    const listTimes: number[] = [];
    const readList = async () => {
      while (isExporting)
        listTimes.push((await timedRequest(url, { path: '/v1/consignments?PageIndex=20000', headers })).ms);
    };
    const listReads = readList();
    const response = await fetch(`${url}/v1/feeds/consignments/consignments/export`, { headers });
    let lines = 0;
    for await (const chunk of response.body ?? []) for (const byte of chunk) if (byte === 10) lines++;
    const seconds = (performance.now() - start) / 1000;
    isExporting = false;
    await listReads;
    // The first line contains the cursor.
    if (lines !== recordCount + 1) throw new Error(`the export has ${lines} lines`);
    return { seconds, listP99: p99(listTimes) };
  };
  const exports = await repeat(runs, measureExport);
  return [
    {
      label: '1,000 changes with their records, at a random position among 10,000,000, p99',
      bound: atMost(10, 'ms'),
      samples: pageTimes,
    },
    {
      label: 'Export of 1,000,000 consignments',
      bound: atMost(60_000, 'ms'),
      samples: exports.map(({ seconds }) => seconds * 1000),
    },
    {
      label: 'A page in the middle of the list during the export, p99',
      bound: atMost(15, 'ms'),
      samples: exports.map(({ listP99 }) => listP99),
    },
  ];
};

/** Runs `measure` while the triggers that write changes to the log are disabled. */
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

/** Measures how much the log slows down writes. */
const writes = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using webhooks = await startWebhooks();
  const store = await createStore(webhooks);
  const webhookRate = () =>
    processedRate(webhooks.url, store, seconds, () => waitUntilProcessed(webhooks.sql));
  await using consignments = await startService('consignments');
  const consignmentRate = () => importRate(consignments, 20_000);
  return [
    await compare({
      label: 'Webhooks stored and processed, against without the log of changes',
      bound: atLeast(0.9, '×'),
      ours: webhookRate,
      baseline: () => withoutFeed(webhooks.sql, webhookRate),
      rounds: 9,
    }),
    await compare({
      label: 'Consignments imported, against without the log of changes',
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
