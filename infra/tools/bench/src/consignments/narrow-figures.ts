import { atMost } from '../bounds.ts';
import { median, repeat, type Figure } from '../figure.ts';
import { counts, idOf } from './fill.ts';
import { rows, runs, size, type Setup } from './million.ts';
import { ask } from './pages.ts';

/** Two filters together. */
export const pairFigures = async ({ service: { url }, token }: Setup): Promise<Figure[]> => {
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

/** Texts that few and that all have. */
export const searchFigures = async ({ service: { url }, token }: Setup): Promise<Figure[]> => {
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
      what: 'SearchText of two letters that all have, middle page: answered',
      bound: '≤ 3,000 ms',
      samples: common.map((times) => median(times.map(({ ms }) => ms))),
      unit: 'ms',
      holds: atMost(3000),
      note: `${answered} of ${common.flat().length} with their total`,
    },
    {
      what: `${letters.length} of them at once, the slowest answer`,
      bound: '≤ 13,000 ms',
      samples: storm.map(({ slowest }) => slowest),
      unit: 'ms',
      holds: atMost(13_000),
      note: `page 1 meanwhile in ${median(storm.map(({ page }) => page)).toFixed(1)} ms, p50`,
    },
  ];
};
