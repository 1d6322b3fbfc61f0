/**
 * Rate and latencies at twice the capacity.
 *
 * The capacity is the rate of 64 connections that each send the next request as soon as the last one is answered. Then
 * 800 connections offer twice that rate for `--seconds` (60). This is repeated three times, each time compared with the
 * capacity just before and after it; the median counts. The service shares its cores with PostgreSQL and Redis. The load
 * generator has a core of its own, because on a shared core it would take CPU time from the service. Latencies come from
 * separate requests (probes), 100 a second in both phases, because wrk does not separate the latencies of accepted and
 * refused requests. This process has a large young generation (package.json), because its own garbage collections
 * delayed the probes by up to 50 ms.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, p99, type Figure, type MeasureOptions, type Topic } from '../figure.ts';
import { COUNTER, load, type LoadRequest } from '../load.ts';
import { targets, type Target } from '../targets.ts';

interface Sample {
  /** When it was sent (`performance.now()`). */
  sentAt: number;
  /** Time until the end of the response. */
  ms: number;
  /** 0 when the connection was closed without a response. */
  status: number;
}

const isAccepted = ({ status }: Sample): boolean => status >= 200 && status < 300;

const latencyP99 = (samples: readonly Sample[]): number => p99(samples.map(({ ms }) => ms));

let probeCount = 0;

const send = async (url: string, request: LoadRequest): Promise<Sample> => {
  const { path, method = 'GET', headers = {}, body } = request;
  const sentAt = performance.now();
  const status = await fetch(url + path, {
    method,
    headers,
    ...(body && { body: body.replace(COUNTER, `probe-${probeCount++}`) }),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
  return { sentAt, ms: performance.now() - sentAt, status };
};

/** Sends the requests in turn while `work` runs, one every 10 ms, without waiting for responses. */
const probeDuring = async <T>(
  url: string,
  requests: readonly LoadRequest[],
  work: () => Promise<T>,
): Promise<{ samples: Sample[]; result: T }> => {
  let isWorking = true;
  const probe = async (): Promise<Sample[]> => {
    const probes: Promise<Sample>[] = [];
    while (isWorking) {
      probes.push(send(url, requests[probes.length % requests.length] ?? { path: '/' }));
      await sleep(10);
    }
    return Promise.all(probes);
  };
  const samples = probe();
  const result = await work().finally(() => (isWorking = false));
  return { samples: await samples, result };
};

/** Restricts this process, and those it starts afterwards, to some of the cores. Needs taskset (util-linux). */
const pinToCores = (cores: string): void => {
  execFileSync('taskset', ['-apc', cores, String(process.pid)], { stdio: 'ignore' });
};

/**
 * Starts a service with its database on all cores but the last, which remains for this process and the load generator.
 */
const onOwnCores = async <T>(start: () => Promise<T>): Promise<T> => {
  const last = cpus().length - 1;
  if (last === 0) throw new Error('This measurement needs two cores: one is for the load generator.');
  pinToCores(`0-${last - 1}`);
  try {
    return await start();
  } finally {
    pinToCores(String(last));
  }
};

/** Connections that measure the capacity: each sends the next request without a pause. */
const closedConnections = 64;
/** Connections at twice the capacity: enough to keep the rate although each waits for slow responses. */
const pacedConnections = 800;
/** More than any service answers: an unlimited rate would send a unique request twice. */
const maxPerSecond = 10_000;
/** Probes of this first period are not counted, because wrk opens all connections at the same time. */
const openingMs = 2000;

interface Measurement {
  acceptedPerSecond: number;
  offeredPerSecond: number;
  accepted: Sample[];
  refused: Sample[];
}

/** A measurement at twice the capacity, and the mean of the capacities just before and after it. */
interface Round {
  over: Measurement;
  capacity: number;
  normalP99: number;
}

/** Measures the rate `perSecond`, or the capacity when it is omitted. */
const measure = async (
  { service: { url }, makeRequests }: Target,
  seconds: number,
  perSecond?: number,
): Promise<Measurement> => {
  const requests = makeRequests(seconds * maxPerSecond);
  const connections = perSecond === undefined ? closedConnections : pacedConnections;
  let startedAt = Infinity;
  const onStart = () => void (startedAt = performance.now());
  const plan = { url, requests, connections, seconds, onStart, ...(perSecond && { perSecond }) };
  // The probes use the last requests, which wrk does not reach.
  const probes = requests.slice(Math.floor(0.95 * requests.length));
  const probed = await probeDuring(url, probes, () => load(plan));
  const samples = probed.samples.filter(({ sentAt }) => sentAt >= startedAt + openingMs);
  const refused = samples.filter((sample) => !isAccepted(sample));
  // Under too much load a service may only accept a request or refuse it with 503.
  const failed = refused.find(({ status }) => status !== 503);
  if (failed)
    throw new Error(`A probe failed with status ${failed.status} (0: no response); expected 2xx or 503.`);
  const { result } = probed;
  return {
    acceptedPerSecond: (result.perSecond * result.accepted) / result.answered,
    offeredPerSecond: result.perSecond,
    accepted: samples.filter(isAccepted),
    refused,
  };
};

/**
 * The capacity is measured between the overloads, because it varies from minute to minute and falls while a table grows
 * by a million rows.
 */
const rounds = 3;

/** Measures a service at twice its capacity, `rounds` times. */
const twiceTheCapacity = async (
  name: string,
  start: () => Promise<Target>,
  seconds: number,
): Promise<Figure[]> => {
  const target = await onOwnCores(start);
  await using _started = target.service;
  const capacitySeconds = Math.min(20, seconds);
  // V8 optimises a hot path for longer than one measurement takes.
  await measure(target, capacitySeconds);
  const results: Round[] = [];
  let before = await measure(target, capacitySeconds);
  for (let round = 0; round < rounds; round++) {
    const over = await measure(target, seconds, 2 * before.acceptedPerSecond);
    const after = await measure(target, capacitySeconds);
    const capacity = (before.acceptedPerSecond + after.acceptedPerSecond) / 2;
    results.push({ over, capacity, normalP99: latencyP99([...before.accepted, ...after.accepted]) });
    before = after;
  }
  const note = (describe: (round: Round) => string) => results.map(describe).join('; ');
  return [
    {
      label: `${name}: accepted at twice the capacity, against the capacity`,
      bound: atLeast(0.8, '×'),
      samples: results.map(({ over, capacity }) => over.acceptedPerSecond / capacity),
      note: note(
        ({ over, capacity }) =>
          `${Math.round(over.acceptedPerSecond)} of ${Math.round(over.offeredPerSecond)}/s, capacity ${Math.round(capacity)}/s`,
      ),
    },
    {
      label: `${name}: p99 of accepted at twice the capacity, against the capacity`,
      bound: atMost(2, '×'),
      samples: results.map(({ over, normalP99 }) => latencyP99(over.accepted) / normalP99),
      note: note(
        ({ over, normalP99 }) => `${latencyP99(over.accepted).toFixed(1)} against ${normalP99.toFixed(1)} ms`,
      ),
    },
    {
      label: `${name}: p99 of refusals at twice the capacity`,
      bound: atMost(100, 'ms'),
      samples: results.map(({ over }) => (over.refused.length === 0 ? 0 : latencyP99(over.refused))),
      note: note(
        ({ over }) => `${over.refused.length} of ${over.refused.length + over.accepted.length} probes`,
      ),
    },
  ];
};

const parts = Object.entries(targets).map(([name, start]) => [
  name,
  ({ seconds = 60 }: MeasureOptions) => twiceTheCapacity(name, start, seconds),
]);

export const topic: Topic = {
  title: 'Overload',
  parts: Object.fromEntries(parts),
};
