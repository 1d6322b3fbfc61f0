/** The last half hour of a service: response of `/docs/ops/summary/<service>`. */
export interface Summary {
  instance: string;
  startedAt: string;
  /** Whose the points are: of this process, or, as Prometheus says, of all processes of the service. */
  source: 'process' | 'prometheus';
  /** How many processes of the service Prometheus reaches; null when only this one is known. */
  processes: number | null;
  points: { at: string; requestsPerSecond: number; errorsPerSecond: number; p99Ms: number | null }[];
}

/** The last half hour of a service in parallel columns, as a chart needs them. */
export interface Traffic {
  /** Seconds since 1970. */
  times: number[];
  requests: number[];
  /** Share of requests that failed, in percent; null when there were none. */
  errors: (number | null)[];
  p99: (number | null)[];
}

const spanMs = 1_800_000;

/**
 * Combines the processes of a service: the sum of requests and errors, the maximum of the p99s. Points have the same
 * times in all processes, multiples of ten seconds. Those of Prometheus are of all processes already; the newest count.
 */
export const combine = (summaries: readonly Summary[]): Traffic => {
  const measured = summaries.findLast(({ source }) => source === 'prometheus');
  const all = (measured === undefined ? summaries : [measured]).flatMap(({ points }) => points);
  const newest = Math.max(0, ...all.map(({ at }) => Date.parse(at)));
  const moments = Map.groupBy(
    all.filter(({ at }) => Date.parse(at) > newest - spanMs),
    ({ at }) => Date.parse(at),
  );
  const traffic: Traffic = { times: [], requests: [], errors: [], p99: [] };
  for (const [at, points] of [...moments].toSorted(([a], [b]) => a - b)) {
    const requests = points.reduce((sum, point) => sum + point.requestsPerSecond, 0);
    const failed = points.reduce((sum, point) => sum + point.errorsPerSecond, 0);
    const times = points.flatMap(({ p99Ms }) => (p99Ms === null ? [] : [p99Ms]));
    traffic.times.push(at / 1000);
    traffic.requests.push(requests);
    traffic.errors.push(requests > 0 ? (100 * failed) / requests : null);
    traffic.p99.push(times.length > 0 ? Math.max(...times) : null);
  }
  return traffic;
};

/** Whose the traffic is: of all processes as Prometheus says, else of those that answered, with the one that did so last. */
export const sourceOf = (summaries: readonly Summary[]): string => {
  const newest = summaries.at(-1);
  if (newest === undefined) return '';
  const { source, processes, instance } = newest;
  if (source === 'prometheus' && processes !== null)
    return processes === 1 ? '1 process' : `${processes} processes`;
  const others = summaries.length - 1;
  return `answered by ${instance}${others > 0 ? `, and ${others} more before` : ''}`;
};
