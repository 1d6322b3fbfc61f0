import { startPostgres } from '@platform/local/postgres';
import { measureDrift, pageSettings, rebuild } from '@platform/pagination/directory';
import postgres from 'postgres';
import type { Figure, Topic } from '../figure.ts';
import { accountFigures } from '../page-directory/accounts.ts';
import { createList, list } from '../page-directory/list.ts';
import { timePages, type PageTimes } from '../page-directory/reads.ts';
import { timeFolding, timeInserts, type WriteRates } from '../page-directory/writes.ts';

const rows = 1_000_000;

const any = (): boolean => true;

const pageFigures = (name: string, { first, middle, last, plain }: PageTimes): Figure[] => [
  {
    what: `${name}: last page against first, with the total`,
    bound: '≤ 2 ×',
    samples: [last / first],
    unit: '×',
    holds: (value) => value <= 2,
    note: `p50 of first, middle, last: ${[first, middle, last].map((ms) => ms.toFixed(2)).join(', ')} ms; OFFSET and count(*) ${plain.toFixed(1)} ms`,
  },
];

const insertFigure = (batch: number, rates: WriteRates[]): Figure => ({
  what: `Inserts at 8 connections with the directory against without, ${batch} rows a transaction`,
  bound: '≥ 0.7 ×',
  samples: rates.map(({ kept, bare }) => kept / bare),
  unit: '×',
  holds: (value) => value >= 0.7,
  note: rates
    .map(
      ({ kept, bare, reading }) =>
        `${kept.toFixed(0)}/${bare.toFixed(0)} rows/s, reads ${reading.toFixed(1)} ms`,
    )
    .join('; '),
});

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

const measure = async (): Promise<Figure[]> => {
  const server = await startPostgres({ durable: true });
  const sql = postgres(server.url, { max: 1, connection: pageSettings, onnotice: () => undefined });
  try {
    const installed = await createList(sql, rows);
    const pages: Figure[] = [];
    for (const column of [undefined, ...list.filters.map((filter) => filter.column)]) {
      pages.push(...pageFigures(column ?? 'The whole list', await timePages(sql, column)));
    }
    const since = await timePages(sql, undefined, '2024-06-22T00:00:00Z');
    pages.push(...pageFigures('From a time in the middle', since));
    const single = await timeInserts(server.url, 1);
    const bulk = await timeInserts(server.url, 500);
    const folding = await timeFolding(sql, 50_000);
    const rebuilding = await seconds(() => rebuild(sql, list));
    const checking = await seconds(() => measureDrift(sql, list));
    const unbounded = { bound: '–', holds: any };
    return [
      ...pages,
      insertFigure(1, single),
      insertFigure(500, bulk),
      { ...unbounded, what: 'Inserted rows folded in a second', samples: [folding.inserted], unit: '/s' },
      {
        ...unbounded,
        what: 'Changes of moved rows folded in a second',
        samples: [folding.moved],
        unit: '/s',
      },
      {
        ...unbounded,
        what: 'Creating the directory of a million rows, indexes included',
        samples: [installed],
        unit: 's',
      },
      { ...unbounded, what: 'Rebuilding it online', samples: [rebuilding], unit: 's' },
      { ...unbounded, what: 'Comparing it with the list', samples: [checking], unit: 's' },
    ];
  } finally {
    await sql.end();
    await server.stop();
  }
};

export const topic: Topic = {
  title: 'Page directory: a million rows in PostgreSQL, without HTTP',
  parts: { parcels: measure, pgbench: accountFigures },
  measure: async () => [...(await measure()), ...(await accountFigures())],
};
