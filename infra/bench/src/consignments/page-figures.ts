import { readPage } from '@platform/pagination/directory/read';
import { consignmentDirectory } from 'consignments/directories';
import type { Sql } from 'postgres';
import { atLeast, atMost } from '../bounds.ts';
import { median, repeat, type Figure } from '../figure.ts';
import { idOf } from './fill.ts';
import { runs, size, type Stand } from './ground.ts';
import { inTurn } from './pages.ts';

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

/** First, middle and last page without and with one filter, and what plain SQL takes for the last one. */
export const pageFigures = async ({ service: { url }, sql, token }: Stand): Promise<Figure[]> => {
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
