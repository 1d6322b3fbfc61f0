import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from '../bounds.ts';
import type { Figure } from '../figure.ts';
import { isAccepted, p99, probeDuring, type Sample } from './probe.ts';
import { startSystem, whileLocked } from './system.ts';

const everyMs = 5;
const lockedMs = 5000;

/** Milliseconds from `from` to the first second in which all requests are accepted and the p99 is at most `limit`. */
const firstNormalSecond = (samples: readonly Sample[], from: number, limit: number): number => {
  const later = samples.filter(({ at }) => at >= from);
  const start = later.find(({ at }) => {
    const second = later.filter((sample) => sample.at >= at && sample.at < at + 1000);
    return second.every(isAccepted) && p99(second) <= limit;
  });
  return start === undefined ? Number.NaN : start.at - from;
};

/** How soon requests are normal again when a lock that blocked the whole pool is released. */
export const recovery = async (): Promise<Figure[]> => {
  await using system = await startSystem('consignments');
  const { service, sql, makeRequests } = system;
  const requests = makeRequests(1);
  await probeDuring(service.url, requests, () => sleep(5000), everyMs);
  const normal = await probeDuring(service.url, requests, () => sleep(5000), everyMs);
  const { samples, result: released } = await probeDuring(
    service.url,
    requests,
    async () => {
      await whileLocked(sql, 'lock table consignments', () => sleep(lockedMs));
      const end = performance.now();
      await sleep(5000);
      return end;
    },
    everyMs,
  );
  const ms = firstNormalSecond(samples, released, 2 * p99(normal.samples));
  const refused = samples.filter((sample) => !isAccepted(sample)).length;
  return [
    {
      what: `consignments: a lock that blocked the pool for ${lockedMs / 1000} s is released → the first normal second (p99 ≤ 2 × before)`,
      bound: '≤ 1 s',
      samples: [ms / 1000],
      unit: 's',
      holds: atMost(1),
      note: `p99 before ${p99(normal.samples).toFixed(1)} ms; ${refused} of ${samples.length} requests refused meanwhile`,
    },
  ];
};
