/**
 * What users notice of overload.
 *
 * Capacity is what 64 connections get that each send the next request at once. Then 800 connections offer twice as much
 * for `--seconds` (60); three times, each compared with the capacity just before and after it, and the median counts.
 * The service shares its cores with PostgreSQL and Redis, and the load generator has a core of its own: on a shared one
 * it would take the CPU time of the service just when it offers most. Latencies come from separate requests, 100 a
 * second in both phases, because wrk does not tell those of accepted and of refused ones apart. This process has a large
 * young generation (package.json), because its own collections delayed them by up to 50 ms.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, p99, type Figure, type MeasureOptions, type Topic } from '../figure.ts';
import { COUNTER, load, type LoadRequest } from '../load.ts';
import { targets, type Target } from '../targets.ts';

interface Sample {
  /** When it was sent, by `performance.now()`. */
  at: number;
  /** Time to the end of the answer. */
  ms: number;
  /** 0 where the connection was closed without an answer. */
  status: number;
}

const isAccepted = ({ status }: Sample): boolean => status >= 200 && status < 300;

const slowest = (samples: readonly Sample[]): number => p99(samples.map(({ ms }) => ms));

let sent = 0;

const send = async (url: string, request: LoadRequest): Promise<Sample> => {
  const { path, method = 'GET', headers = {}, body } = request;
  const at = performance.now();
  const status = await fetch(url + path, {
    method,
    headers,
    ...(body && { body: body.replace(COUNTER, `probe-${sent++}`) }),
  }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
  return { at, ms: performance.now() - at, status };
};

/** Sends the requests in turn while `work` runs, one every 10 ms whether the last one is answered or not. */
const probeDuring = async <T>(
  url: string,
  requests: readonly LoadRequest[],
  work: () => Promise<T>,
): Promise<{ samples: Sample[]; result: T }> => {
  let working = true;
  const probe = async (): Promise<Sample[]> => {
    const running: Promise<Sample>[] = [];
    while (working) {
      running.push(send(url, requests[running.length % requests.length] ?? { path: '/' }));
      await sleep(10);
    }
    return Promise.all(running);
  };
  const probing = probe();
  const result = await work().finally(() => (working = false));
  return { samples: await probing, result };
};

/** Moves this process, and what it starts from now on, to some of the cores. Needs taskset (util-linux). */
const moveTo = (cores: string): void => {
  execFileSync('taskset', ['-apc', cores, String(process.pid)], { stdio: 'ignore' });
};

/**
 * Starts a service with its database on all cores but the last, and leaves the last one to this process and the load
 * generator. Otherwise a generator that offers twice as much takes its CPU time from the service, and its goodput falls
 * for a reason that no user of the service has.
 */
const onOwnCores = async <T>(start: () => Promise<T>): Promise<T> => {
  const last = cpus().length - 1;
  if (last === 0) throw new Error('This measurement needs two cores: one is for the load generator.');
  moveTo(`0-${last - 1}`);
  try {
    return await start();
  } finally {
    moveTo(String(last));
  }
};

/** At capacity: as many connections as the other topics use; each sends its next request at once. */
const closedConnections = 64;
/** At twice the capacity: enough to keep up the rate although each waits for slow answers. */
const pacedConnections = 800;
/** More than any service answers, so that no request is sent twice where each is different. */
const maxPerSecond = 10_000;
/** wrk opens its connections at once; what that costs a service is not counted. */
const openingMs = 2000;

interface Measured {
  acceptedPerSecond: number;
  offeredPerSecond: number;
  accepted: Sample[];
  refused: Sample[];
}

/** A measurement at twice the capacity, and what is normal: the capacity just before and just after it. */
interface Round {
  over: Measured;
  capacity: number;
  normalP99: number;
}

const measure = async (
  { service: { url }, makeRequests }: Target,
  seconds: number,
  perSecond?: number,
): Promise<Measured> => {
  const requests = makeRequests(seconds * maxPerSecond);
  const connections = perSecond === undefined ? closedConnections : pacedConnections;
  let startedAt = Infinity;
  const onStart = () => void (startedAt = performance.now());
  const plan = { url, requests, connections, seconds, onStart, ...(perSecond && { perSecond }) };
  // Requests that cannot be sent twice end with those of the probe.
  const probes = requests.slice(Math.floor(0.95 * requests.length));
  const probed = await probeDuring(url, probes, () => load(plan));
  const samples = probed.samples.filter(({ at }) => at >= startedAt + openingMs);
  const refused = samples.filter((sample) => !isAccepted(sample));
  // Only a refusal is what a service should do with too much load.
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
 * The capacity is measured between the overloads, because it differs from minute to minute, and falls while a table
 * grows by a million rows.
 */
const rounds = 3;

/** What a service does at twice the rate that it can answer, `rounds` times for `seconds`. */
const twiceTheCapacity = async (name: keyof typeof targets, seconds: number): Promise<Figure[]> => {
  const target = await onOwnCores(targets[name]);
  await using _started = target.service;
  const shorter = Math.min(20, seconds);
  // V8 optimises a hot path for longer than one measurement takes.
  await measure(target, shorter);
  const results: Round[] = [];
  let before = await measure(target, shorter);
  for (let round = 0; round < rounds; round++) {
    const over = await measure(target, seconds, 2 * before.acceptedPerSecond);
    const after = await measure(target, shorter);
    const capacity = (before.acceptedPerSecond + after.acceptedPerSecond) / 2;
    results.push({ over, capacity, normalP99: slowest([...before.accepted, ...after.accepted]) });
    before = after;
  }
  const note = (describe: (round: Round) => string) => results.map(describe).join('; ');
  return [
    {
      what: `${name}: accepted at twice the capacity, against the capacity`,
      bound: atLeast(0.8, '×'),
      samples: results.map(({ over, capacity }) => over.acceptedPerSecond / capacity),
      note: note(
        ({ over, capacity }) =>
          `${Math.round(over.acceptedPerSecond)} of ${Math.round(over.offeredPerSecond)}/s, capacity ${Math.round(capacity)}/s`,
      ),
    },
    {
      what: `${name}: p99 of accepted at twice the capacity, against the capacity`,
      bound: atMost(2, '×'),
      samples: results.map(({ over, normalP99 }) => slowest(over.accepted) / normalP99),
      note: note(
        ({ over, normalP99 }) => `${slowest(over.accepted).toFixed(1)} against ${normalP99.toFixed(1)} ms`,
      ),
    },
    {
      what: `${name}: p99 of refusals at twice the capacity`,
      bound: atMost(100, 'ms'),
      samples: results.map(({ over }) => (over.refused.length === 0 ? 0 : slowest(over.refused))),
      note: note(
        ({ over }) => `${over.refused.length} of ${over.refused.length + over.accepted.length} probes`,
      ),
    },
  ];
};

const names = Object.keys(targets) as (keyof typeof targets)[];
const services = names.map((name) => [
  name,
  ({ seconds = 60 }: MeasureOptions) => twiceTheCapacity(name, seconds),
]);

export const topic: Topic = {
  title: 'Overload',
  parts: Object.fromEntries(services),
};
