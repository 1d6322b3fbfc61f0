import { median } from '../figure.ts';

export interface Answered {
  ms: number;
  status: number;
  total: number;
}

/** Sends one request. Throws for a status other than 200, 400 and 503. */
export const ask = async (url: string, token: string): Promise<Answered> => {
  const start = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  const body = await answer.text();
  const ms = performance.now() - start;
  if (![200, 400, 503].includes(answer.status)) throw new Error(`${url}: ${answer.status} ${body}`);
  const total = answer.status === 200 ? (JSON.parse(body) as { total: number }).total : Number.NaN;
  return { ms, status: answer.status, total };
};

/** Requests the pages in turn, one at a time. Returns the median of each in ms. Throws if one has another total. */
export const medianTimes = async (
  urls: readonly string[],
  token: string,
  total: number,
  rounds = 150,
): Promise<number[]> => {
  const times = urls.map((): number[] => []);
  for (let round = -20; round < rounds; round++) {
    for (const [place, url] of urls.entries()) {
      const answer = await ask(url, token);
      if (answer.total !== total) throw new Error(`${url}: total ${answer.total}, not ${total}`);
      if (round >= 0) times[place]?.push(answer.ms);
    }
  }
  return times.map(median);
};
