import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure } from '../figure.ts';
import { isAccepted, probeDuring, slowest, type Sample } from './probe.ts';
import { onOwnCores, whileLocked } from './system.ts';
import { targets } from './targets.ts';

const everyMs = 5;
const lockedMs = 5000;

/** Milliseconds from `from` to the first second in which all requests are accepted and the p99 is at most `limit`. */
const firstNormalSecond = (samples: readonly Sample[], from: number, limit: number): number => {
  const later = samples.filter(({ at }) => at >= from);
  const start = later.find(({ at }) => {
    const second = later.filter((sample) => sample.at >= at && sample.at < at + 1000);
    return second.every(isAccepted) && slowest(second) <= limit;
  });
  return start === undefined ? Number.NaN : start.at - from;
};

/** How soon requests are normal again when a lock that blocked the whole pool is released. */
export const recovery = async (): Promise<Figure[]> => {
  const { service, makeRequests } = await onOwnCores(targets.consignments);
  await using started = service;
  const { url, sql } = started;
  const probe = <T>(work: () => Promise<T>) => probeDuring(url, makeRequests(1), work, everyMs);
  await probe(() => sleep(5000));
  const normal = slowest((await probe(() => sleep(5000))).samples);
  const { samples, result: released } = await probe(async () => {
    await whileLocked(sql, 'lock table consignments', () => sleep(lockedMs));
    const end = performance.now();
    await sleep(5000);
    return end;
  });
  const refused = samples.filter((sample) => !isAccepted(sample)).length;
  return [
    {
      what: `consignments: a lock that blocked the pool for ${lockedMs / 1000} s is released → the first normal second (p99 ≤ 2 × before)`,
      bound: atMost(1, 's'),
      samples: [firstNormalSecond(samples, released, 2 * normal) / 1000],
      note: `p99 before ${normal.toFixed(1)} ms; ${refused} of ${samples.length} requests refused meanwhile`,
    },
  ];
};
