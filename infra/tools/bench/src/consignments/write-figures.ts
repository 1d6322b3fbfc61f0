import { rebuild } from '@platform/pagination/directory';
import { consignmentDirectory } from 'consignments/directories';
import { atLeast, atMost } from '../bounds.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { median, repeat, type Figure } from '../figure.ts';
import { runs, type Setup } from './million.ts';
import { importRows } from './importing.ts';
import { ask } from './pages.ts';
import { consignmentRate } from './writers.ts';

/** Single inserts, with and without the directory. */
export const insertFigures = async ({ service, sql }: Setup): Promise<Figure[]> => {
  const rates = await repeat(runs, async () => {
    const withIt = await consignmentRate(service.databaseUrl);
    await sql`alter table consignments disable trigger user`;
    const without = await consignmentRate(service.databaseUrl);
    await sql`alter table consignments enable trigger user`;
    return { withIt, without };
  });
  await rebuild(sql, consignmentDirectory);
  await sql`vacuum analyze consignments`;
  return [
    {
      what: 'Inserts a second with the directory against without, 8 connections',
      bound: '≥ 0.7 ×',
      samples: rates.map(({ withIt, without }) => withIt / without),
      unit: '×',
      holds: atLeast(0.7),
      note: `${median(rates.map(({ withIt }) => withIt)).toFixed(0)}/s, one row a transaction`,
    },
  ];
};

/** Milliseconds, p50, of a page in the middle of all consignments and of one status, while `work` runs. */
const pageMeanwhile = async ({ service, token }: Setup, work: Promise<unknown>): Promise<number> => {
  let running = true;
  const ended = work.finally(() => (running = false));
  const times: number[] = [];
  while (running) {
    for (const query of ['PageIndex=20000', 'Status=3&PageIndex=2000']) {
      times.push((await ask(`${service.url}/v1/consignments?${query}`, token)).ms);
    }
    await wait(50);
  }
  await ended;
  return median(times);
};

/** An import into the million, and pages that are read meanwhile. */
export const importFigures = async (setup: Setup): Promise<Figure[]> => {
  const imports = await repeat(runs, async () => {
    const importing = importRows(setup.service, setup.writing, 150_000);
    const page = await pageMeanwhile(setup, importing);
    return { ...(await importing), page };
  });
  return [
    {
      what: 'Page in the middle while an import runs, p50',
      bound: '≤ 15 ms',
      samples: imports.map(({ page }) => page),
      unit: 'ms',
      holds: atMost(15),
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
