import { rebuild } from '@platform/pagination/directory';
import postgres from 'postgres';
import { projectDirectory } from 'verify-projects/directory';
import { atLeast, atMost } from '../bounds.ts';
import { median, repeat, type Figure, type Topic } from '../figure.ts';
import { load } from '../load.ts';
import { startBackingServices, startService } from '../service.ts';
import { startBare } from '../verify-projects/bare.ts';
import { changedAt, fillProjects, storeKey } from '../verify-projects/fill.ts';
import { medianTimes } from '../verify-projects/pages.ts';
import { exclusiveStamp, projectRate } from '../verify-projects/writers.ts';

const rows = 1_000_000;
const runs = 3;

/** First and last page of each list; the last of the whole list is page 20,000 of 50. */
const lists = (url: string) => {
  const since = `modified_after=${changedAt(rows / 2)}&`;
  const pages = (filter: string, last: number): [string, string] => [
    `${url}/v1/projects?${filter}page=1`,
    `${url}/v1/projects?${filter}page=${last}`,
  ];
  return {
    whole: pages('', rows / 50),
    status: pages('status=archived&', (rows * 0.3) / 50),
    since: pages(since, rows / 2 / 50),
    both: pages(`status=archived&${since}`, (rows * 0.15) / 50),
  };
};

const pageFigures = async (url: string, key: string): Promise<Figure[]> => {
  const measure = (pages: [string, string]) => repeat(runs, () => medianTimes(pages, key));
  const { whole, status, since, both } = lists(url);
  const all = await measure(whole);
  const filtered = [
    ['of one status', await measure(status)],
    ['with modified_after in the middle', await measure(since)],
    ['with both', await measure(both)],
  ] as const;
  return [
    {
      what: 'Projects, last page (20,000 of 50) against page 1, p50',
      bound: '≤ 1.5 ×',
      samples: all.map(({ first, last }) => last / first),
      unit: '×',
      holds: atMost(1.5),
      note: `page 1 in ${median(all.map(({ first }) => first)).toFixed(2)} ms`,
    },
    {
      what: 'Projects, last page, p50',
      bound: '≤ 4 ms',
      samples: all.map(({ last }) => last),
      unit: 'ms',
      holds: atMost(4),
    },
    ...filtered.map(([name, times]) => ({
      what: `Projects ${name}, last page against first, p50`,
      bound: '≤ 2 ×',
      samples: times.map(({ first, last }) => last / first),
      unit: '×' as const,
      holds: atMost(2),
      note: `last page in ${median(times.map(({ last }) => last)).toFixed(2)} ms`,
    })),
  ];
};

const rateFigure = async (url: string, databaseUrl: string, key: string): Promise<Figure> => {
  await using bare = await startBare(databaseUrl);
  // Many short turns, so that other load of the machine affects both equally.
  const plan = { connections: 16, seconds: 2 };
  const rates = await repeat(10, async () => {
    const request = { path: '/v1/projects', headers: { 'X-API-Key': key } };
    const base = await load({ url: bare.url, requests: [request], ...plan });
    const ours = await load({ url, requests: [request], ...plan });
    if (base.failed + ours.failed > 0) throw new Error('not every request was answered');
    return { base: base.perSecond, ours: ours.perSecond };
  });
  // The first one warms both up.
  const [, ...counted] = rates;
  return {
    what: 'Projects, page 1 with key, validation, log and metrics against bare Express with the same SELECT',
    bound: '≥ 0.8 ×',
    samples: counted.map(({ ours, base }) => ours / base),
    unit: '×',
    holds: atLeast(0.8),
    note: `${median(counted.map(({ ours }) => ours)).toFixed(0)}/s; the handler of the baseline sends its rows with res.json`,
  };
};

const writeFigures = async (databaseUrl: string): Promise<Figure[]> => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  await sql.unsafe(exclusiveStamp);
  const rates = await repeat(runs, async () => {
    const exclusive = await projectRate(databaseUrl, 'exclusive_stamp()');
    const shared = await projectRate(databaseUrl, 'next_updated_at()');
    const none = await projectRate(databaseUrl, 'clock_timestamp()');
    await sql`alter table projects disable trigger user`;
    const without = await projectRate(databaseUrl, 'next_updated_at()');
    await sql`alter table projects enable trigger user`;
    return { exclusive, shared, none, without };
  });
  await rebuild(sql, projectDirectory);
  await sql.end();
  return [
    {
      what: 'Inserts of projects a second with the page directory against without, 8 connections',
      bound: '≥ 0.7 ×',
      samples: rates.map(({ shared, without }) => shared / without),
      unit: '×',
      holds: atLeast(0.7),
      note: `${median(rates.map(({ shared }) => shared)).toFixed(0)}/s, each its own transaction`,
    },
    {
      what: 'Inserts a second with the clock of changes against an exclusive lock to the commit, 8 connections',
      bound: '≥ 1.5 ×',
      samples: rates.map(({ shared, exclusive }) => shared / exclusive),
      unit: '×',
      holds: atLeast(1.5),
      note: `${median(rates.map(({ shared, none }) => shared / none)).toFixed(2)} × of what they are without any order`,
    },
  ];
};

interface Setup {
  url: string;
  databaseUrl: string;
  key: string;
}

/** In this order, so that pages see the million rows before others change them. */
const figures = {
  pages: ({ url, key }: Setup) => pageFigures(url, key),
  rate: async ({ url, databaseUrl, key }: Setup) => [await rateFigure(url, databaseUrl, key)],
  inserts: ({ databaseUrl }: Setup) => writeFigures(databaseUrl),
};

/** A service with a million projects, for as long as `parts` take. */
const withMillion = async (parts: readonly ((setup: Setup) => Promise<Figure[]>)[]): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('verify-projects', backing);
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  await fillProjects(sql, rows);
  const key = await storeKey(sql);
  await sql.end();
  const measured: Figure[] = [];
  for (const measure of parts) measured.push(...(await measure({ ...service, key })));
  return measured;
};

export const topic: Topic = {
  title: 'Verification projects: a million, in pages',
  parts: Object.fromEntries(
    Object.entries(figures).map(([name, measure]) => [name, () => withMillion([measure])]),
  ),
  measure: () => withMillion(Object.values(figures)),
};
