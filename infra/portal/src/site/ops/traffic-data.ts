/** The last half hour of a service: response of `/docs/ops/summary/<service>`. */
export interface Summary {
  instance: string;
  startedAt: string;
  /** Whether the points cover this process, or (from Prometheus) all processes of the service. */
  source: 'process' | 'prometheus';
  /** Number of processes that Prometheus reaches; null without Prometheus. */
  processes: number | null;
  points: { at: string; requestsPerSecond: number; errorsPerSecond: number; p99Ms: number | null }[];
}

/** The last half hour of a service in parallel columns, as a chart needs them. */
export interface Traffic {
  /** Seconds since 1970. */
  times: number[];
  requests: number[];
  /** Percentage of failed requests; null if there were no requests. */
  errors: (number | null)[];
  p99: (number | null)[];
}

const spanMs = 1_800_000;

/**
 * Combines the processes of a service: the sum of requests and errors, the maximum of the p99s. Points have the same times
 * in all processes, multiples of ten seconds. A summary of Prometheus covers all processes, so only the newest one counts.
 */
export const combine = (summaries: readonly Summary[]): Traffic => {
  const fromPrometheus = summaries.findLast(({ source }) => source === 'prometheus');
  const points = (fromPrometheus ? [fromPrometheus] : summaries).flatMap((summary) => summary.points);
  const newest = Math.max(0, ...points.map(({ at }) => Date.parse(at)));
  const pointsByTime = Map.groupBy(
    points.filter(({ at }) => Date.parse(at) > newest - spanMs),
    ({ at }) => Date.parse(at),
  );
  const traffic: Traffic = { times: [], requests: [], errors: [], p99: [] };
  for (const [time, group] of [...pointsByTime].toSorted(([a], [b]) => a - b)) {
    const requests = group.reduce((sum, point) => sum + point.requestsPerSecond, 0);
    const failed = group.reduce((sum, point) => sum + point.errorsPerSecond, 0);
    const p99s = group.flatMap(({ p99Ms }) => (p99Ms === null ? [] : [p99Ms]));
    traffic.times.push(time / 1000);
    traffic.requests.push(requests);
    traffic.errors.push(requests > 0 ? (100 * failed) / requests : null);
    traffic.p99.push(p99s.length > 0 ? Math.max(...p99s) : null);
  }
  return traffic;
};

/** Describes the source of the traffic: the number of processes in Prometheus, else the process that answered last. */
export const sourceOf = (summaries: readonly Summary[]): string => {
  const newest = summaries.at(-1);
  if (newest === undefined) return '';
  const { source, processes, instance } = newest;
  if (source === 'prometheus' && processes !== null)
    return processes === 1 ? '1 process' : `${processes} processes`;
  const others = summaries.length - 1;
  return `answered by ${instance}${others > 0 ? `, and ${others} more before` : ''}`;
};
