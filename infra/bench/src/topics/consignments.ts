/** A million consignments: pages with exact totals, searches, writers, an import. */
import { readPage } from '@platform/pagination/directory/read';
import postgres, { type Sql } from 'postgres';
import { consignmentDirectory } from 'consignments/directories';
import { counts, fillConsignments, idOf } from '../consignments/fill.ts';
import { importRows } from '../consignments/importing.ts';
import { ask, inTurn } from '../consignments/pages.ts';
import { insertRate } from '../consignments/writers.ts';
import { median, repeat, type Figure, type Topic } from '../figure.ts';
import { startGround, startService, type BenchService } from '../service.ts';

const rows = 1_000_000;
const runs = 3;
const size = 25;

const atMost =
  (most: number) =>
  (value: number): boolean =>
    value <= most;
const atLeast =
  (least: number) =>
  (value: number): boolean =>
    value >= least;

interface List {
  name: string;
  query: string;
  /** The same as SQL, and for the directory. */
  where: string;
  filter?: { column: string; value: string | number };
}

const by = (name: string, parameter: string, column: string, value: string | number): List => ({
  name,
  query: `${parameter}=${value}&`,
  where: `${column} = '${value}'`,
  filter: { column, value },
});

const lists: List[] = [
  { name: 'without a filter', query: '', where: 'true' },
  by('of one Status', 'Status', 'status', 3),
  by('of one ClientId', 'ClientId', 'client_id', idOf('c', 7)),
  by('of one WarehouseId', 'WarehouseId', 'warehouse_id', idOf('e', 7)),
];

/** Time of the last page and its total: as one would write it first, and through the directory. In ms, without HTTP. */
const statements = async (sql: Sql, { where, filter }: List, index: number) => {
  const offset = index * size;
  const order = `order by created_at desc, id desc limit ${size} offset ${offset}`;
  const plain = async () => {
    const start = performance.now();
    await sql.unsafe(`select count(*) from consignments where ${where}`, [], { prepare: true });
    await sql.unsafe(`select * from consignments where ${where} ${order}`, [], { prepare: true });
    return performance.now() - start;
  };
  const ours = async () => {
    const start = performance.now();
    const wanted = { offset: BigInt(offset), limit: size, ...(filter && { filter }) };
    await readPage(sql, consignmentDirectory, wanted);
    return performance.now() - start;
  };
  await repeat(10, ours);
  return { plain: median(await repeat(5, plain)), ours: median(await repeat(50, ours)) };
};

const pageFigures = async ({ url }: BenchService, sql: Sql, token: string): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const list of lists) {
    const { name, query, where } = list;
    const [counted] = await sql.unsafe<{ n: number }[]>(
      `select count(*)::int as n from consignments where ${where}`,
    );
    const total = counted?.n ?? 0;
    const last = Math.ceil(total / size) - 1;
    const urls = [0, Math.floor(last / 2), last].map(
      (index) => `${url}/v1/consignments?${query}PageIndex=${index}`,
    );
    const times = await repeat(runs, async () => ({
      ours: await inTurn(urls, token, total),
      sql: await statements(sql, list, last),
    }));
    const place = (at: number) => times.map(({ ours }) => ours[at] ?? Number.NaN);
    const [first, middle, end] = [place(0), place(1), place(2)];
    figures.push(
      {
        what: `Consignments ${name}, slowest of first, middle and last page, p50`,
        bound: '≤ 5 ms',
        samples: times.map(({ ours }) => Math.max(...ours)),
        unit: 'ms',
        holds: atMost(5),
        note: `first ${median(first).toFixed(2)}, middle ${median(middle).toFixed(2)}, last ${median(end).toFixed(2)} ms; total ${total}`,
      },
      {
        what: `Consignments ${name}, last page against first, p50`,
        bound: '≤ 2 ×',
        samples: end.map((ms, run) => ms / (first[run] ?? Number.NaN)),
        unit: '×',
        holds: atMost(2),
      },
      {
        what: `Consignments ${name}, last page: plain OFFSET and count(*) against ours`,
        bound: '≥ 20 ×',
        samples: times.map((run) => run.sql.plain / run.sql.ours),
        unit: '×',
        holds: atLeast(20),
        note:
          `statements alone: ${median(times.map((run) => run.sql.plain)).toFixed(1)} against ` +
          `${median(times.map((run) => run.sql.ours)).toFixed(2)} ms`,
      },
    );
  }
  return figures;
};

const pairFigures = async ({ url }: BenchService, token: string): Promise<Figure[]> => {
  const pairs = 30;
  const times = await repeat(runs, async (run) => {
    // Another status each run, so that nothing of it has been counted yet.
    const urls = Array.from(
      { length: pairs },
      (_, n) => `${url}/v1/consignments?Status=${run}&WarehouseId=${idOf('e', n)}&PageIndex=50`,
    );
    const round = () => repeat(pairs, async (n) => (await ask(urls[n] ?? '', token)).ms);
    return { first: median(await round()), again: median(await round()) };
  });
  return [
    {
      what: 'Status and WarehouseId together, middle page, the first time, p50',
      bound: '≤ 60 ms',
      samples: times.map(({ first }) => first),
      unit: 'ms',
      holds: atMost(60),
      note: `${counts.statuses * counts.warehouses} pairs of some 2,500 rows`,
    },
    {
      what: 'The same, repeated, p50',
      bound: '≤ 10 ms',
      samples: times.map(({ again }) => again),
      unit: 'ms',
      holds: atMost(10),
    },
  ];
};

const searchFigures = async ({ url }: BenchService, token: string): Promise<Figure[]> => {
  const search = (text: string, index = 0) =>
    ask(`${url}/v1/consignments?SearchText=${text}&PageIndex=${index}`, token);
  let number = 100_000;
  const rare = await repeat(runs, async () =>
    median(await repeat(50, async () => (await search(String((number += 7919)).padStart(8, '0'))).ms)),
  );
  const letters = ['cl', 'LI', 'ie', 'En', 'nt', 'tr', 'ra', 'ad', 'di', 'in', 'ng', 'ex', 'xt', 'po', 'cn'];
  const common = await repeat(runs, async (run) =>
    repeat(5, (n) => search(letters[run * 5 + n] ?? '', Math.floor(rows / size / 2))),
  );
  const answered = common.flat().filter(({ status }) => status === 200).length;
  const storm = await repeat(runs, async () => {
    const searches = Promise.all(letters.map((text) => search(text)));
    const pages = await repeat(20, () => ask(`${url}/v1/consignments`, token));
    return {
      slowest: Math.max(...(await searches).map(({ ms }) => ms)),
      page: median(pages.map(({ ms }) => ms)),
    };
  });
  return [
    {
      what: 'SearchText that finds one, p50',
      bound: '≤ 25 ms',
      samples: rare,
      unit: 'ms',
      holds: atMost(25),
    },
    {
      what: 'SearchText of two letters that all have, middle page, never asked before: answered or 503',
      bound: '≤ 250 ms',
      samples: common.map((times) => median(times.map(({ ms }) => ms))),
      unit: 'ms',
      holds: atMost(250),
      note: `${answered} of ${common.flat().length} with their total, the others with query_timeout`,
    },
    {
      what: `${letters.length} of them at once, the slowest answer`,
      bound: '≤ 500 ms',
      samples: storm.map(({ slowest }) => slowest),
      unit: 'ms',
      holds: atMost(500),
      note: `page 1 meanwhile in ${median(storm.map(({ page }) => page)).toFixed(1)} ms, p50`,
    },
  ];
};

const writeFigures = async (service: BenchService, sql: Sql, token: string): Promise<Figure[]> => {
  const rates = await repeat(runs, async () => {
    const withIt = await insertRate(service.databaseUrl);
    await sql`alter table consignments disable trigger user`;
    const without = await insertRate(service.databaseUrl);
    await sql`alter table consignments enable trigger user`;
    return { withIt, without };
  });
  await sql`select consignments_directory_rebuild()`;
  await sql`vacuum analyze consignments`;
  const imports = await repeat(runs, () => importRows(service, token, 150_000));
  return [
    {
      what: 'Inserts a second with the directory against without, 8 connections',
      bound: '≥ 0.7 ×',
      samples: rates.map(({ withIt, without }) => withIt / without),
      unit: '×',
      holds: atLeast(0.7),
      note: `${median(rates.map(({ withIt }) => withIt)).toFixed(0)}/s, one row a transaction`,
    },
    {
      what: 'Import, rows a second',
      bound: '≥ 15,000',
      samples: imports.map(({ perSecond }) => perSecond),
      unit: '/s',
      holds: atLeast(15_000),
      note: '150,000 lines into a table of a million, one connection',
    },
    {
      what: 'Import, resident memory after the first fifth: growth to the end',
      bound: '≤ 32 MB',
      samples: imports.map(({ growth }) => growth),
      unit: 'MB',
      holds: atMost(32),
    },
  ];
};

const measure = async (): Promise<Figure[]> => {
  await using ground = await startGround();
  await using service = await startService('consignments', ground);
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  await fillConsignments(sql, rows);
  const token = await service.keys.token({ scope: 'consignments:read', ttl: 7200 });
  const writing = await service.keys.token({ scope: 'consignments:write', ttl: 7200 });
  const figures = [
    ...(await pageFigures(service, sql, token)),
    ...(await pairFigures(service, token)),
    ...(await searchFigures(service, token)),
    ...(await writeFigures(service, sql, writing)),
  ];
  await sql.end();
  return figures;
};

export const topic: Topic = { title: 'Consignments: a million, in pages with exact totals', measure };
