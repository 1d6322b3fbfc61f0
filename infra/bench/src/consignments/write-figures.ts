import { rebuild } from '@platform/pagination/directory';
import { consignmentDirectory } from 'consignments/directories';
import { atLeast, atMost } from '../bounds.ts';
import { median, repeat, type Figure } from '../figure.ts';
import { runs, type Stand } from './ground.ts';
import { importRows } from './importing.ts';
import { insertRate } from './writers.ts';

/** Single inserts, with and without the directory. */
export const insertFigures = async ({ service, sql }: Stand): Promise<Figure[]> => {
  const rates = await repeat(runs, async () => {
    const withIt = await insertRate(service.databaseUrl);
    await sql`alter table consignments disable trigger user`;
    const without = await insertRate(service.databaseUrl);
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

/** An import into the million. */
export const importFigures = async ({ service, writing }: Stand): Promise<Figure[]> => {
  const imports = await repeat(runs, () => importRows(service, writing, 150_000));
  return [
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
