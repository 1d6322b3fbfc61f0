import { atLeast, atMost } from '../bounds.ts';
import { median, repeat, type Figure } from '../figure.ts';
import { idOf } from './fill.ts';
import { runs, size, type Setup } from './million.ts';
import { medianTimes } from './pages.ts';
import { inDatabase, inDriver, type Narrowed, type Times } from './statements.ts';

interface List extends Narrowed {
  name: string;
  query: string;
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

const both = (times: readonly Times[]): string => {
  const [plain, ours] = [median(times.map((run) => run.plain)), median(times.map((run) => run.ours))];
  const ratio = median(times.map((run) => run.plain / run.ours));
  return `${plain.toFixed(1)} against ${ours.toFixed(2)} ms (${ratio.toPrecision(3)} ×)`;
};

/** First, middle and last page without and with one filter, and what plain SQL takes for the last one. */
export const pageFigures = async ({ service, sql, token }: Setup): Promise<Figure[]> => {
  const { url, databaseUrl } = service;
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
      ours: await medianTimes(urls, token, total),
      database: await inDatabase(databaseUrl, list, last * size),
      driver: await inDriver(databaseUrl, list, last * size),
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
        samples: times.map(({ database }) => database.plain / database.ours),
        unit: '×',
        holds: atLeast(20),
        note:
          `statements alone, by pgbench: ${both(times.map(({ database }) => database))}; ` +
          `and objects of the rows, by postgres.js: ${both(times.map(({ driver }) => driver))}`,
      },
    );
  }
  return figures;
};
