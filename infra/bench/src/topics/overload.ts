import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost } from '../bounds.ts';
import { percentile, type Figure, type MeasureOptions, type Topic } from '../figure.ts';
import { COUNTER, load, type LoadRequest, type LoadResult } from '../load.ts';
import { prepare, targets, type Target } from '../overload/targets.ts';
import { startGround, startService } from '../service.ts';

/** At capacity: as many connections as the other topics use, each sends its next request at once. */
const closedConnections = 64;
/** Connections at twice the capacity: enough to keep up the rate although each waits for slow answers. */
const pacedConnections = 800;
const probeEveryMs = 10;

/** Sends requests one after the other, at a low rate, and returns the times in ms of those that were accepted. */
const probe = async (
  url: string,
  requests: readonly LoadRequest[],
  signal: AbortSignal,
): Promise<number[]> => {
  const times: number[] = [];
  const running = new Set<Promise<void>>();
  const send = async (at: number): Promise<void> => {
    const { path, method = 'GET', headers = {}, body } = requests[at % requests.length] ?? { path: '/' };
    const start = performance.now();
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: body.replace(COUNTER, `probe-${start}`) }),
    });
    await answer.arrayBuffer();
    if (answer.ok) times.push(performance.now() - start);
  };
  for (let at = 0; !signal.aborted; at++) {
    const sent: Promise<void> = send(at)
      // A connection that the service closed counts as refused.
      .catch(() => undefined)
      .finally(() => running.delete(sent));
    running.add(sent);
    await sleep(probeEveryMs);
  }
  await Promise.all(running);
  return times;
};

interface Measured extends LoadResult {
  /** 99 of 100 accepted requests took at most this long, in ms. */
  p99Accepted: number;
  acceptedPerSecond: number;
}

const measureLoad = async (
  url: string,
  requests: readonly LoadRequest[],
  seconds: number,
  perSecond?: number,
): Promise<Measured> => {
  const done = new AbortController();
  const probing = probe(url, requests, done.signal);
  const connections = perSecond === undefined ? closedConnections : pacedConnections;
  const result = await load({ url, requests, connections, seconds, ...(perSecond && { perSecond }) });
  done.abort();
  const acceptedPerSecond = (result.perSecond * result.accepted) / result.answered;
  return { ...result, p99Accepted: percentile(await probing, 0.99), acceptedPerSecond };
};

const measureTarget = async (name: string, target: Target, seconds: number): Promise<Figure[]> => {
  await using ground = await startGround();
  await using service = await startService(name, ground, target.settings);
  const requests = await prepare(target, service);
  // V8 optimises a hot path for longer than one measurement takes.
  await measureLoad(service.url, requests, Math.min(20, seconds));
  const normal = await measureLoad(service.url, requests, Math.min(20, seconds));
  const over = await measureLoad(service.url, requests, seconds, 2 * normal.acceptedPerSecond);
  const offered = Math.round(over.perSecond);
  return [
    {
      what: `${name}: accepted requests a second at twice the capacity, against the capacity`,
      bound: '≥ 0.8 ×',
      samples: [over.acceptedPerSecond / normal.acceptedPerSecond],
      unit: '×',
      holds: atLeast(0.8),
      note: `${Math.round(over.acceptedPerSecond)} of ${offered}/s; capacity ${Math.round(normal.acceptedPerSecond)}/s`,
    },
    {
      what: `${name}: p99 of accepted requests at twice the capacity, against p99 at the capacity`,
      bound: '≤ 2 ×',
      samples: [over.p99Accepted / normal.p99Accepted],
      unit: '×',
      holds: atMost(2),
      note: `${over.p99Accepted.toFixed(1)} ms, ${normal.p99Accepted.toFixed(1)} ms at capacity`,
    },
  ];
};

const measure =
  (names: readonly string[]) =>
  async ({ seconds = 60 }: MeasureOptions): Promise<Figure[]> => {
    const figures: Figure[] = [];
    for (const name of names) {
      const target = targets[name];
      if (target !== undefined) figures.push(...(await measureTarget(name, target, seconds)));
    }
    return figures;
  };

export const topic: Topic = {
  title: 'Overload: every service at twice its capacity',
  measure: measure(Object.keys(targets)),
  parts: Object.fromEntries(Object.keys(targets).map((name) => [name, measure([name])])),
};
