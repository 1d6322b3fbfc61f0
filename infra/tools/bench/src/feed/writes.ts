import type { Sql } from 'postgres';
import { atLeast, compare, type Figure, type MeasureOptions } from '../figure.ts';
import { processedRate } from '../rates.ts';
import { startService, type BenchService } from '../service.ts';
import { openShop, startWebhooks, untilProcessed } from '../subjects/store-webhooks.ts';

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

let imported = 0;

/** Consignments per second of one import. */
export const importRate = async ({ url, keys }: BenchService, lines: number): Promise<number> => {
  const token = await keys.token({ scope: 'consignments:write', ttl: 7200 });
  const clientId = '00000000-0000-7000-8000-c00000000001';
  const body = Array.from({ length: lines }, () =>
    JSON.stringify({ consignmentNumber: `IM-${imported++}`, clientId, clientName: 'Client 1 Trading' }),
  );
  const begin = performance.now();
  const answer = await fetch(`${url}/v1/consignments/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
    body: body.join('\n'),
  });
  const results = (await answer.text()).trim().split('\n');
  if (results.length !== lines || results.some((line) => line.includes('error')))
    throw new Error(`the import answered ${answer.status} ${results.at(-1)}`);
  return (lines * 1000) / (performance.now() - begin);
};

/** What the log costs those who write. */
export const writes = async ({ seconds = 4 }: MeasureOptions): Promise<Figure[]> => {
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
