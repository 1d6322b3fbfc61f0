import { median } from '../figure.ts';

const rounds = 300;
const warmUp = 30;

/** Asks for two pages in turn, one request at a time; gives the median of each in ms. */
export const medianTimes = async (
  [first, last]: [first: string, last: string],
  key: string,
): Promise<{ first: number; last: number }> => {
  const times = { first: [] as number[], last: [] as number[] };
  const ask = async (url: string, into: number[], keep: boolean) => {
    const start = performance.now();
    const answer = await fetch(url, { headers: { 'X-API-Key': key } });
    const body = await answer.text();
    const took = performance.now() - start;
    if (answer.status !== 200 || body.length < 1000) throw new Error(`${url}: ${answer.status} ${body}`);
    if (keep) into.push(took);
  };
  for (let round = -warmUp; round < rounds; round++) {
    await ask(first, times.first, round >= 0);
    await ask(last, times.last, round >= 0);
  }
  return { first: median(times.first), last: median(times.last) };
};
