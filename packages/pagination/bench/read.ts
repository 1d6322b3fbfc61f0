/** Reads first, middle and last pages of a million rows: `node bench/read.ts POSTGRES_URL`. */
import postgres, { type Sql } from 'postgres';
import type { Directory } from '../src/directory/declare.ts';
import { readPage, readSlice, type PageRequest } from '../src/directory/read.ts';
import {
  consignmentsDirectory,
  install,
  loadConsignments,
  loadProjects,
  projectsDirectory,
} from './lists.ts';

const rows = 1_000_000;
const sql = postgres(process.argv[2] ?? '', { max: 1, onnotice: () => undefined });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** p50 and p95 of `runs` calls, in milliseconds. */
const spread = async (runs: number, work: () => Promise<unknown>): Promise<string> => {
  const samples: number[] = [];
  for (let run = 0; run < runs; run++) samples.push(await timed(work));
  const sorted = samples.toSorted((a, b) => a - b);
  return `p50 ${sorted[runs >> 1]?.toFixed(2)} p95 ${sorted[Math.floor(runs * 0.95)]?.toFixed(2)}`;
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const plain = (list: Directory, { filter, offset, limit }: PageRequest) => {
  const where = filter ? sql`${sql(filter.column)} = ${filter.value}` : sql`true`;
  const side = list.newestFirst ? sql`desc` : sql`asc`;
  return sql`select *, (select count(*) from ${sql(list.table)} where ${where}) as total from ${sql(list.table)}
    where ${where} order by ${sql(list.at)} ${side}, ${sql(list.id)} ${side} offset ${String(offset)} limit ${limit}`;
};

const compare = async (
  list: Directory,
  reader: (sql: Sql, list: Directory, request: PageRequest) => Promise<unknown>,
  base: Omit<PageRequest, 'offset'>,
): Promise<void> => {
  const { total } = await readPage(sql, list, { ...base, offset: 0n, limit: 1 });
  const name = `${list.table} ${reader.name} ${base.filter?.column ?? 'all'} ${base.since ?? ''} of ${total}`;
  const pages = Math.floor((total - 1) / base.limit);
  for (const [place, page] of [
    ['first', 0],
    ['middle', pages >> 1],
    ['last', pages],
  ] as const) {
    const request = { ...base, offset: BigInt(page) * BigInt(base.limit) };
    say(`${name} ${place}: ${await spread(400, () => reader(sql, list, request))}`);
    if (place === 'last' && !base.since) say(`  plain: ${await spread(7, () => plain(list, request))}`);
  }
};

const [found] = await sql`select to_regclass('consignments') as name`;
if (!found?.['name']) {
  say(`load consignments ${await timed(() => loadConsignments(sql, rows))} ms`);
  say(`install ${await timed(() => install(sql, consignmentsDirectory))} ms`);
  say(`load projects ${await timed(() => loadProjects(sql, rows))} ms`);
  say(`install ${await timed(() => install(sql, projectsDirectory))} ms`);
  await sql`vacuum analyze`;
}
const uuid = (prefix: string) => `00000000-0000-4000-${prefix}-000000000007`;
for (const filter of [
  undefined,
  { column: 'status', value: 3 },
  { column: 'warehouse_id', value: uuid('9000') },
  { column: 'client_id', value: uuid('8000') },
]) {
  await compare(consignmentsDirectory, readPage, { limit: 25, ...(filter ? { filter } : {}) });
}
await compare(projectsDirectory, readSlice, { limit: 50 });
await compare(projectsDirectory, readSlice, { limit: 50, filter: { column: 'status', value: 3 } });
await compare(projectsDirectory, readSlice, { limit: 50, since: '2024-06-01T00:00:00.000Z' });
await compare(projectsDirectory, readSlice, {
  limit: 50,
  since: '2024-06-01T00:00:00.000Z',
  filter: { column: 'status', value: 3 },
});
await sql.end();
