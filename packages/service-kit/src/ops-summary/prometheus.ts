import { z } from 'zod';
import type { Point } from './history.ts';

/** Short, because the operations page waits for the response. */
const timeoutMs = 3000;
const rangeSeconds = 1800;
const stepSeconds = 10;

const Labels = z.record(z.string(), z.string());
const Alerts = z.object({
  data: z.object({
    alerts: z.array(
      z.object({ state: z.string(), activeAt: z.string(), labels: Labels, annotations: Labels }),
    ),
  }),
});
const Matrix = z.object({
  data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }),
});

/** A firing alert of Prometheus, with the texts of infra/deploy/observability/alerts.yaml. */
export interface FiringAlert {
  alert: string;
  /** Empty if the alert does not concern a single service. */
  service: string;
  severity: string;
  summary: string;
  action: string;
  guide: string;
  /** ISO 8601. */
  since: string;
}

export type Prometheus = ReturnType<typeof createPrometheus>;

/** Creates a client for the Prometheus data of the operations page. `url`: PROMETHEUS_URL. Rejects if Prometheus does not answer. */
export const createPrometheus = (url: string, service: string) => {
  const request = async <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
  ): Promise<z.output<Schema>> => {
    const answer = await fetch(`${url.replace(/\/$/, '')}/api/v1/${path}`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) throw new Error(`Prometheus answered with the status ${answer.status}`);
    return schema.parse(await answer.json());
  };
  /** The values of an expression by Unix time in seconds. */
  const queryRange = async (query: string, end: number): Promise<Map<number, number>> => {
    const range = { start: String(end - rangeSeconds), end: String(end), step: String(stepSeconds) };
    const parameters = new URLSearchParams({ query, ...range }).toString();
    const { data } = await request(`query_range?${parameters}`, Matrix);
    return new Map(data.result.flatMap(({ values }) => values).map(([at, value]) => [at, Number(value)]));
  };
  const serviceLabels = `job="platform",service="${service}"`;
  const rate = (metric: string, moreLabels = ''): string =>
    `(sum(rate(${metric}{${serviceLabels}${moreLabels}}[1m])) or vector(0))`;
  const count = 'http_request_duration_seconds_count';
  const refused = rate('http_requests_refused_total');
  return {
    firingAlerts: async (): Promise<FiringAlert[]> => {
      const { data } = await request('alerts', Alerts);
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels, annotations, activeAt }) => ({
          alert: labels['alertname'] ?? '',
          service: labels['service'] ?? '',
          severity: labels['severity'] ?? '',
          summary: annotations['summary'] ?? '',
          action: annotations['action'] ?? '',
          guide: annotations['guide'] ?? '',
          since: activeAt,
        }));
    },
    /** The traffic of all replicas of the service over the last half hour, and the current number of replicas. */
    traffic: async (): Promise<{ processes: number; points: Point[] }> => {
      const end = Math.floor(Date.now() / 1000 / stepSeconds) * stepSeconds;
      const buckets = `sum by (le) (rate(http_request_duration_seconds_bucket{${serviceLabels},route!="none"}[1m]))`;
      const [requests, errors, p99, up] = await Promise.all(
        [
          `${rate(count, ',route!="none"')} + ${refused}`,
          `${rate(count, ',route!="none",status=~"5.."')} + ${refused}`,
          `1000 * histogram_quantile(0.99, ${buckets})`,
          `count(up{${serviceLabels}} == 1)`,
        ].map((query) => queryRange(query, end)),
      );
      const points = [...(requests ?? [])].map(([at, requestsPerSecond]) => {
        const p99Ms = p99?.get(at) ?? Number.NaN;
        return {
          at: new Date(at * 1000).toISOString(),
          requestsPerSecond,
          errorsPerSecond: errors?.get(at) ?? 0,
          p99Ms: Number.isFinite(p99Ms) ? p99Ms : null,
        };
      });
      return { processes: up?.get(end) ?? 0, points };
    },
  };
};
