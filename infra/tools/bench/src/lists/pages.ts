import { atMost, median, repeat, type Figure } from '../figure.ts';
import type { LoadRequest } from '../load.ts';

/** Duration in ms of one request, its body read. Throws unless it is answered with 200. */
export const ask = async (url: string, { path, headers = {} }: LoadRequest) => {
  const start = performance.now();
  const answer = await fetch(url + path, { headers });
  const text = await answer.text();
  const ms = performance.now() - start;
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
  return { ms, text };
};

/** Requests pages in turn, one at a time, and returns the median of each in ms. */
const medianTimes = async (url: string, pages: readonly LoadRequest[]): Promise<number[]> => {
  const times = pages.map((): number[] => []);
  for (let round = -30; round < 150; round++) {
    for (const [place, page] of pages.entries()) {
      const { ms } = await ask(url, page);
      if (round >= 0) times[place]?.push(ms);
    }
  }
  return times.map(median);
};

export interface Depth {
  /** `Projects of one status` */
  list: string;
  url: string;
  /** From the first to the last. */
  pages: readonly LoadRequest[];
  /** How much longer the last page may take than the first. */
  ratio: number;
  /** How long the slowest may take. */
  ms: number;
}

/** How long pages of a list take, the last one against the first. */
export const depthFigures = async ({ list, url, pages, ratio, ms }: Depth): Promise<Figure[]> => {
  const runs = await repeat(3, () => medianTimes(url, pages));
  const shown = pages.map((_, place) => median(runs.map((times) => times[place] ?? Number.NaN)).toFixed(2));
  return [
    {
      what: `${list}: last page against first, p50`,
      bound: atMost(ratio, '×'),
      samples: runs.map((times) => (times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN)),
    },
    {
      what: `${list}: the slowest page, p50`,
      bound: atMost(ms, 'ms'),
      samples: runs.map((times) => Math.max(...times)),
      note: `in this order: ${shown.join(', ')} ms`,
    },
  ];
};
