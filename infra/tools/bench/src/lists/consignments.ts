import { atMost, median, repeat, type Figure } from '../figure.ts';
import type { LoadRequest } from '../load.ts';
import { startService, type BenchService } from '../service.ts';
import { counts, fillConsignments, idOf } from '../subjects/consignments.ts';
import { ask, depthFigures } from './pages.ts';

const rows = 1_000_000;
/** Of a page, when PageSize is left out. */
const size = 25;
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

/** First, middle and last page without and with one filter. */
const pageFigures = async ({ service, list }: Setup): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const { name, query } of lists) {
    const { total } = JSON.parse((await ask(service.url, list(query))).text) as { total: number };
    const last = Math.ceil(total / size) - 1;
    const pages = [0, Math.floor(last / 2), last].map((index) => list(`${query}&PageIndex=${index}`));
    const { url } = service;
    figures.push(...(await depthFigures({ list: name, url, pages, ratio: 2, ms: 5 })));
  }
  return figures;
};

/** Two filters together, and texts that one and that all have. */
const searchFigures = async ({ service: { url }, list }: Setup): Promise<Figure[]> => {
  const timed = async (query: string) => (await ask(url, list(query))).ms;
  const pairs = await repeat(runs, async (run) => {
    // Another status each run, so that nothing of it has been counted yet.
    const round = () => repeat(30, (n) => timed(`Status=${run}&WarehouseId=${idOf('e', n)}&PageIndex=50`));
    return { first: median(await round()), again: median(await round()) };
  });
  let number = 100_000;
  const rare = await repeat(runs, async () =>
    median(await repeat(50, () => timed(`SearchText=${String((number += 7919)).padStart(8, '0')}`))),
  );
  const letters = ['cl', 'LI', 'ie', 'En', 'nt', 'tr', 'ra', 'ad', 'di', 'in', 'ng', 'ex', 'xt', 'po', 'cn'];
  const storm = await repeat(runs, async () => {
    const searches = Promise.all(letters.map((text) => timed(`SearchText=${text}`)));
    const pages = await repeat(20, () => timed(''));
    return { slowest: Math.max(...(await searches)), page: median(pages) };
  });
  return [
    {
      what: 'Status and WarehouseId together, middle page, the first time, p50',
      bound: atMost(60, 'ms'),
      samples: pairs.map(({ first }) => first),
      note: `${counts.statuses * counts.warehouses} pairs of some 2,500 rows`,
    },
    { what: 'The same, repeated, p50', bound: atMost(10, 'ms'), samples: pairs.map(({ again }) => again) },
    { what: 'SearchText that finds one, p50', bound: atMost(25, 'ms'), samples: rare },
    {
      what: `${letters.length} searches at once for two letters that all have, the slowest answer`,
      bound: atMost(13_000, 'ms'),
      samples: storm.map(({ slowest }) => slowest),
      note: `page 1 meanwhile in ${median(storm.map(({ page }) => page)).toFixed(1)} ms, p50`,
    },
  ];
};

/** A million consignments: pages with exact totals, and searches. */
export const consignments = async (): Promise<Figure[]> => {
  await using service = await startService('consignments');
  await fillConsignments(service.sql, rows);
  const headers = {
    Authorization: `Bearer ${await service.keys.token({ scope: 'consignments:read', ttl: 7200 })}`,
  };
  const setup = { service, list: (query: string) => ({ path: `/v1/consignments?${query}`, headers }) };
  return [...(await pageFigures(setup)), ...(await searchFigures(setup))];
};
