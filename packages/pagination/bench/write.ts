/** Inserts at 8 connections with the directory against without: `node bench/write.ts POSTGRES_URL`. */
import postgres, { type Sql } from 'postgres';
import { readPage } from '../src/directory/read.ts';
import { foldChanges } from '../src/directory/upkeep.ts';
import { consignmentOf, consignmentsDirectory as list } from './lists.ts';

const url = process.argv[2] ?? '';
const seconds = Number(process.argv[3] ?? 8);
const open = (max: number) => postgres(url, { max, onnotice: () => undefined });
const writers = open(8);
const upkeep = open(1);
const reader = open(1);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const until = async (end: number, work: () => Promise<unknown>): Promise<number> => {
  let done = 0;
  while (performance.now() < end) {
    await work();
    done++;
  }
  return done;
};

/** Rows a second: eight connections, each in transactions of `batch` rows, all at the newest end. */
const inserts = async (batch: number): Promise<number> => {
  const end = performance.now() + seconds * 1000;
  const insert = (sql: Sql) => {
    const from = Math.floor(Math.random() * 1e9);
    return sql`insert into consignments select ${sql.unsafe(consignmentOf)}, now()
      from generate_series(${from}::bigint, ${from + batch - 1}::bigint) i`;
  };
  const counts = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const sql = await writers.reserve();
      const done = await until(end, async () => insert(sql));
      sql.release();
      return done;
    }),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * batch) / seconds;
};

/** As a service does: folds four times a second; and somebody reads the first page now and then. */
const tended = async <T>(work: () => Promise<T>): Promise<{ result: T; slowest: number; folded: number }> => {
  let running = true;
  let folded = 0;
  const reads: number[] = [];
  const folding = (async () => {
    while (running) {
      folded += await foldChanges(upkeep, list);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  const reading = (async () => {
    while (running) {
      const start = performance.now();
      await readPage(reader, list, { offset: 500_000n, limit: 25 });
      reads.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  const result = await work();
  running = false;
  await Promise.all([folding, reading]);
  return { result, slowest: reads.toSorted((a, b) => a - b)[reads.length >> 1] ?? 0, folded };
};

for (const batch of [1, 10, 500]) {
  const ratios: number[] = [];
  for (let round = 0; round < 3; round++) {
    await upkeep`alter table consignments enable trigger user`;
    const { result: kept, slowest, folded } = await tended(() => inserts(batch));
    await upkeep`alter table consignments disable trigger user`;
    const bare = await inserts(batch);
    ratios.push(kept / bare);
    say(`batch ${batch}: ${kept.toFixed(0)}/s with, ${bare.toFixed(0)}/s without, ratio ${(kept / bare).toFixed(2)},
  ${folded} folded meanwhile, p50 of a read in the middle ${slowest.toFixed(1)} ms`);
  }
}
await upkeep`alter table consignments enable trigger user`;
await upkeep`select consignments_directory_rebuild()`;
await Promise.all([writers.end(), upkeep.end(), reader.end()]);
