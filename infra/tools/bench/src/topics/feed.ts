/** The change feed: reading it, what it costs those who write, and deliveries to subscribers. */
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
import { openShop, startWebhooks, untilProcessed } from '../subjects/store-webhooks.ts';
import { ask } from './lists.ts';

const [records, entries] = [1_000_000, 10_000_000];
const [runs, pages] = [3, 200];

/** As many changes, of which each list has a quarter; those of consignments are of records that exist. */
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

/** The request of a page behind a random place of the log. */
const randomPage = async (sql: Sql, headers: Record<string, string>): Promise<LoadRequest> => {
  const [row] = await sql<[{ cursor: string }]>`
    select encode(uuid_send(epoch) || int8send(log.position) || int8send(log.stamp), 'base64') as cursor
    from feed_state, feed_log log where log.position = ${randomInt(entries)}`;
  const after = Buffer.from(row.cursor, 'base64').toString('base64url');
  return { path: `/v1/feeds/consignments/consignments?limit=1000&after=${after}`, headers };
};

/** A page of the feed at any place of a long log, and all records as a file while pages are read. */
const log = async (): Promise<Figure[]> => {
  await using service = await startService('consignments');
  const { sql, url, keys } = service;
  await fillConsignments(sql, records);
  await fillLog(sql);
  const headers = { Authorization: `Bearer ${await keys.token({ scope: 'consignments:read', ttl: 7200 })}` };
  const page = async () => (await ask(url, await randomPage(sql, headers))).ms;
  await repeat(30, page);
  const times = await repeat(runs, async () => p99(await repeat(pages, page)));

  const whileExporting = async () => {
    const begin = performance.now();
    let isRunning = true;
    const lists: number[] = [];
    const read = async () => {
      while (isRunning)
        lists.push((await ask(url, { path: '/v1/consignments?PageIndex=20000', headers })).ms);
    };
    const reading = read();
    const answer = await fetch(`${url}/v1/feeds/consignments/consignments/export`, { headers });
    let lines = 0;
    for await (const piece of answer.body ?? []) for (const byte of piece) if (byte === 10) lines++;
    const seconds = (performance.now() - begin) / 1000;
    isRunning = false;
    await reading;
    if (lines !== records + 1) throw new Error(`the export has ${lines} lines`);
    return { seconds, lists: p99(lists) };
  };
  const exports = await repeat(runs, whileExporting);
  return [
    {
      what: '1,000 changes with their records, at any place of 10,000,000, p99',
      bound: atMost(10, 'ms'),
      samples: times,
    },
    {
      what: 'Export of 1,000,000 consignments',
      bound: atMost(60_000, 'ms'),
      samples: exports.map(({ seconds }) => seconds * 1000),
    },
    {
      what: 'A page in the middle of the list meanwhile, p99',
      bound: atMost(15, 'ms'),
      samples: exports.map(({ lists }) => lists),
    },
  ];
};

/** Measures without what writes the changes of all lists to the log. */
const withoutFeed = async (sql: Sql, measure: () => Promise<number>): Promise<number> => {
  const triggers = await sql<{ name: string; onTable: string }[]>`
    select tgname as name, relname as "onTable" from pg_trigger join pg_class on pg_class.oid = tgrelid
    where tgname ~ '_feed_(insert|update|delete)$'`;
  const set = async (state: 'enable' | 'disable') => {
    for (const { name, onTable } of triggers)
      await sql.unsafe(`alter table ${onTable} ${state} trigger ${name}`);
  };
  await set('disable');
  try {
    return await measure();
  } finally {
    await set('enable');
  }
};

/** What the log costs those who write. */
const writes = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
  await using webhooks = await startWebhooks();
  const shop = await openShop(webhooks);
  const process = () => processedRate(webhooks.url, shop, seconds, () => untilProcessed(webhooks.sql));
  await using consignments = await startService('consignments');
  const load = () => importRate(consignments, 20_000);
  return [
    await compare({
      what: 'Webhooks stored and processed, against the same without the log of changes',
      bound: atLeast(0.9, '×'),
      ours: process,
      baseline: () => withoutFeed(webhooks.sql, process),
      rounds: 9,
    }),
    await compare({
      what: 'Consignments imported, against the same without the log of changes',
      bound: atLeast(0.85, '×'),
      ours: load,
      baseline: () => withoutFeed(consignments.sql, load),
      rounds: 9,
    }),
  ];
};

export const topic: Topic = {
  title: 'Change feed and outgoing webhooks',
  parts: { log, writes, deliveries },
};
