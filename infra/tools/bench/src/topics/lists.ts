/** Lists at scale: a deep page takes no longer than the first one, with exact totals where a list has them. */
import { atMost, median, repeat, type Figure, type Topic } from '../figure.ts';
import type { LoadRequest } from '../load.ts';
import { startService, type BenchService } from '../service.ts';
import { counts, fillConsignments, idOf } from '../subjects/consignments.ts';
import { fillQuest } from '../subjects/quest-service.ts';
import { startTasks } from '../subjects/task-manager.ts';
import { changedAt, fillProjects, createApiKey } from '../subjects/verify-projects.ts';

/** Sends a request and returns its duration in ms, with the body. Throws unless the status is 200. */
export const timedRequest = async (url: string, { path, headers = {} }: LoadRequest) => {
  const start = performance.now();
  const response = await fetch(url + path, { headers });
  const text = await response.text();
  const ms = performance.now() - start;
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return { ms, text };
};

/** Requests the pages in turn, 150 times each after a warm-up; returns the median time of each in ms. */
const medianTimes = async (url: string, pages: readonly LoadRequest[]): Promise<number[]> => {
  const times = pages.map((): number[] => []);
  const warmUp = 30;
  for (let round = -warmUp; round < 150; round++) {
    for (const [index, page] of pages.entries()) {
      const { ms } = await timedRequest(url, page);
      if (round >= 0) times[index]?.push(ms);
    }
  }
  return times.map(median);
};

interface Depth {
  /** `Projects of one status` */
  list: string;
  url: string;
  /** From the first page to the last. */
  pages: readonly LoadRequest[];
  /** Upper bound of the last page's time divided by the first page's. */
  maxRatio: number;
  /** Upper bound of the slowest page's time. */
  maxMs: number;
}

/** Measures a list's pages; returns the ratio of the last to the first, and the slowest. */
const depthFigures = async ({ list, url, pages, maxRatio, maxMs }: Depth): Promise<Figure[]> => {
  const runs = await repeat(3, () => medianTimes(url, pages));
  const medians = pages.map((_, index) => median(runs.map((times) => times[index] ?? Number.NaN)).toFixed(2));
  return [
    {
      label: `${list}: last page against first, p50`,
      bound: atMost(maxRatio, '×'),
      samples: runs.map((times) => (times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN)),
    },
    {
      label: `${list}: the slowest page, p50`,
      bound: atMost(maxMs, 'ms'),
      samples: runs.map((times) => Math.max(...times)),
      note: `in this order: ${medians.join(', ')} ms`,
    },
  ];
};

const rows = 1_000_000;
/** Page size when PageSize is omitted. */
const pageSize = 25;
const runs = 3;

interface Setup {
  service: BenchService;
  list: (query: string) => LoadRequest;
}

const lists = [
  { name: 'A million consignments', query: '' },
  { name: 'Consignments of one Status', query: 'Status=3' },
  { name: 'Consignments of one ClientId', query: `ClientId=${idOf('c', 7)}` },
  { name: 'Consignments of one WarehouseId', query: `WarehouseId=${idOf('e', 7)}` },
];

/** Measures the first, middle and last page, without a filter and with one. */
const pageFigures = async ({ service, list }: Setup): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const { name, query } of lists) {
    const { total } = JSON.parse((await timedRequest(service.url, list(query))).text) as { total: number };
    const last = Math.ceil(total / pageSize) - 1;
    const pages = [0, Math.floor(last / 2), last].map((index) => list(`${query}&PageIndex=${index}`));
    const { url } = service;
    figures.push(...(await depthFigures({ list: name, url, pages, maxRatio: 2, maxMs: 5 })));
  }
  return figures;
};

/** Measures two filters together, and searches for texts that one record or all records contain. */
const searchFigures = async ({ service, list }: Setup): Promise<Figure[]> => {
  const timed = async (query: string) => (await timedRequest(service.url, list(query))).ms;
  const pairs = await repeat(runs, async (run) => {
    // Another status each run, so that its total is not cached yet.
    const readAll = () => repeat(30, (n) => timed(`Status=${run}&WarehouseId=${idOf('e', n)}&PageIndex=50`));
    return { first: median(await readAll()), again: median(await readAll()) };
  });
  let number = 100_000;
  const searchRareText = () => {
    number += 7919;
    return timed(`SearchText=${String(number).padStart(8, '0')}`);
  };
  const rare = await repeat(runs, async () => median(await repeat(50, searchRareText)));
  const texts = ['cl', 'LI', 'ie', 'En', 'nt', 'tr', 'ra', 'ad', 'di', 'in', 'ng', 'ex', 'xt', 'po', 'cn'];
  const bursts = await repeat(runs, async () => {
    const searches = Promise.all(texts.map((text) => timed(`SearchText=${text}`)));
    const pages = await repeat(20, () => timed(''));
    return { slowest: Math.max(...(await searches)), page: median(pages) };
  });
  return [
    {
      label: 'Status and WarehouseId together, middle page, the first time, p50',
      bound: atMost(60, 'ms'),
      samples: pairs.map(({ first }) => first),
      note: `${counts.statuses * counts.warehouses} pairs of some 2,500 rows`,
    },
    { label: 'The same, repeated, p50', bound: atMost(10, 'ms'), samples: pairs.map(({ again }) => again) },
    { label: 'SearchText that one record contains, p50', bound: atMost(25, 'ms'), samples: rare },
    {
      label: `${texts.length} searches at once for two letters that all records contain, the slowest answer`,
      bound: atMost(13_000, 'ms'),
      samples: bursts.map(({ slowest }) => slowest),
      note: `page 1 meanwhile in ${median(bursts.map(({ page }) => page)).toFixed(1)} ms, p50`,
    },
  ];
};

/** Measures a million consignments: pages with exact totals, and searches. */
const consignments = async (): Promise<Figure[]> => {
  await using service = await startService('consignments');
  await fillConsignments(service.sql, rows);
  const headers = {
    Authorization: `Bearer ${await service.keys.token({ scope: 'consignments:read', ttl: 7200 })}`,
  };
  const setup = { service, list: (query: string) => ({ path: `/v1/consignments?${query}`, headers }) };
  return [...(await pageFigures(setup)), ...(await searchFigures(setup))];
};

const tasks = async () => {
  const { service, list } = await startTasks();
  await using started = service;
  const pages = [list(1), list(500)];
  return await depthFigures({
    list: '10,000 tasks of one user',
    url: started.url,
    pages,
    maxRatio: 1.5,
    maxMs: 5,
  });
};

const questions = async () => {
  await using service = await startService('quest-service', { QUESTS_CACHE_BYTES: '0' });
  const path = await fillQuest(service, 10_000);
  const pages = [0, 9900].map((skip) => ({ path: `${path}?Skip=${skip}&Take=100` }));
  return await depthFigures({
    list: '10,000 questions, cache off',
    url: service.url,
    pages,
    maxRatio: 1.5,
    maxMs: 15,
  });
};

const projects = async () => {
  await using service = await startService('verify-projects');
  await fillProjects(service.sql, rows);
  const headers = { 'X-API-Key': await createApiKey(service.sql) };
  const since = `modified_after=${changedAt(rows / 2)}`;
  const queries = [
    { list: 'A million projects', query: '', total: rows, maxRatio: 1.5 },
    { list: 'Projects of one status', query: 'status=archived', total: rows * 0.3, maxRatio: 2 },
    { list: 'Projects with modified_after in the middle', query: since, total: rows / 2, maxRatio: 2 },
    { list: 'Projects with both', query: `status=archived&${since}`, total: rows * 0.15, maxRatio: 2 },
  ];
  const figures = [];
  for (const { list, query, total, maxRatio } of queries) {
    const pages = [1, total / 50].map((page) => ({ path: `/v1/projects?${query}&page=${page}`, headers }));
    figures.push(...(await depthFigures({ list, url: service.url, pages, maxRatio, maxMs: 4 })));
  }
  return figures;
};

export const topic: Topic = {
  title: 'Lists at scale',
  parts: { tasks, questions, projects, consignments },
};
