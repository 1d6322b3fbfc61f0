import { setTimeout as wait } from 'node:timers/promises';
import { fold, pageSettings, readPage, rebuild } from '@platform/pagination/directory';
import postgres, { type Sql } from 'postgres';
import { median } from '../figure.ts';
import { list, parcel } from './list.ts';

const connections = 8;

/** Rows a second: eight connections, all at the newest end, `batch` rows a transaction. */
const insertRate = async (sql: Sql, batch: number, seconds: number): Promise<number> => {
  const end = performance.now() + seconds * 1000;
  let rows = 0;
  const write = async () => {
    const own = await sql.reserve();
    for (; performance.now() < end; rows += batch) {
      const from = Math.floor(Math.random() * 1e9);
      await own`insert into parcels select ${own.unsafe(parcel('now()'))}
        from generate_series(${from}::bigint, ${from + batch - 1}::bigint) i`;
    }
    own.release();
  };
  await Promise.all(Array.from({ length: connections }, write));
  return rows / seconds;
};

/** As in a service: changes are folded four times a second, and a page is read from time to time. */
const tended = async <T>(url: string, work: () => Promise<T>): Promise<{ result: T; reading: number }> => {
  const sql = postgres(url, { max: 2, connection: pageSettings, onnotice: () => undefined });
  let running = true;
  const reads: number[] = [];
  const folding = async () => {
    for (; running; await wait(250)) await fold(sql, list);
  };
  const reading = async () => {
    for (; running; await wait(200)) {
      const start = performance.now();
      await readPage(sql, list, { offset: 500_000n, limit: 25 });
      reads.push(performance.now() - start);
    }
  };
  const both = Promise.all([folding(), reading()]);
  const result = await work();
  running = false;
  await both;
  await sql.end();
  return { result, reading: median(reads) };
};

export interface WriteRates {
  /** Rows a second with the directory, changes being folded in meanwhile. */
  kept: number;
  bare: number;
  /** Milliseconds, p50, of a page in the middle while rows are written. */
  reading: number;
}

/** Short turns with and without the directory, so that other load of the machine affects both equally. */
export const timeInserts = async (url: string, batch: number, turns = 7): Promise<WriteRates[]> => {
  const sql = postgres(url, { max: connections, onnotice: () => undefined });
  const results: WriteRates[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await sql`alter table parcels enable trigger user`;
    const { result: kept, reading } = await tended(url, () => insertRate(sql, batch, 3));
    await sql`alter table parcels disable trigger user`;
    const bare = await insertRate(sql, batch, 3);
    results.push({ kept, bare, reading });
  }
  await sql`alter table parcels enable trigger user`;
  await rebuild(sql, list);
  await sql.end();
  return results;
};

/** Changes folded in a second: `rows` inserted at once, then moved at once to the newest end. */
export const timeFolding = async (sql: Sql, rows: number): Promise<{ inserted: number; moved: number }> => {
  const perSecond = async () => {
    const start = performance.now();
    return ((await fold(sql, list)) ?? 0) / ((performance.now() - start) / 1000);
  };
  await sql.unsafe(
    `insert into parcels select ${parcel('now()')} from generate_series(1::bigint, ${rows}) i`,
  );
  const inserted = await perSecond();
  await sql`update parcels set created_at = now()
    where id in (select id from parcels where created_at < '2025-01-01' order by random() limit ${rows / 2}::int)`;
  return { inserted, moved: await perSecond() };
};
