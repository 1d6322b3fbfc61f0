import { z } from 'zod';
import type { Point } from './history.ts';

/** The operations page waits for it. */
const timeoutMs = 3000;
const spanS = 1800;
const stepS = 10;

const Texts = z.record(z.string(), z.string());
const Alerts = z.object({
  data: z.object({
    alerts: z.array(z.object({ state: z.string(), activeAt: z.string(), labels: Texts, annotations: Texts })),
  }),
});
const Matrix = z.object({
  data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }),
});

/** An alert that Prometheus says is firing, with the texts of infra/deploy/observability/alerts.yaml. */
export interface FiringAlert {
  alert: string;
  /** Empty when the alert is of no single service. */
  service: string;
  severity: string;
  summary: string;
  action: string;
  guide: string;
  /** ISO 8601. */
  since: string;
}

/** What `createPrometheus` makes. */
export type Prometheus = ReturnType<typeof createPrometheus>;

/** The Prometheus at an address (PROMETHEUS_URL), as far as the operations page needs it. Rejects when it does not answer. */
export const createPrometheus = (url: string, service: string) => {
  const ask = async <Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> => {
    const answer = await fetch(`${url.replace(/\/$/, '')}/api/v1/${path}`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) throw new Error(`Prometheus answered with the status ${answer.status}`);
    return schema.parse(await answer.json());
  };
  /** The values of an expression by time, in seconds. */
  const range = async (query: string, end: number): Promise<Map<number, number>> => {
    const span = { start: String(end - spanS), end: String(end), step: String(stepS) };
    const { data } = await ask(`query_range?${new URLSearchParams({ query, ...span }).toString()}`, Matrix);
    return new Map(data.result.flatMap(({ values }) => values).map(([at, value]) => [at, Number(value)]));
  };
  const own = `job="platform",service="${service}"`;
  const rate = (metric: string, more = ''): string =>
    `(sum(rate(${metric}{${own}${more}}[1m])) or vector(0))`;
  const count = 'http_request_duration_seconds_count';
  const refused = rate('http_requests_refused_total');
  return {
    firingAlerts: async (): Promise<FiringAlert[]> => {
      const { data } = await ask('alerts', Alerts);
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
    /** Traffic of all replicas of the service over the last half hour, and how many replicas there are now. */
    traffic: async (): Promise<{ processes: number; points: Point[] }> => {
      const end = Math.floor(Date.now() / 1000 / stepS) * stepS;
      const buckets = `sum by (le) (rate(http_request_duration_seconds_bucket{${own},route!="none"}[1m]))`;
      const [requests, errors, p99, up] = await Promise.all(
        [
          `${rate(count, ',route!="none"')} + ${refused}`,
          `${rate(count, ',route!="none",status=~"5.."')} + ${refused}`,
          `1000 * histogram_quantile(0.99, ${buckets})`,
          `count(up{${own}} == 1)`,
        ].map((query) => range(query, end)),
      );
      const points = [...(requests ?? [])].map(([at, requestsPerSecond]) => {
        const slowest = p99?.get(at) ?? Number.NaN;
        return {
          at: new Date(at * 1000).toISOString(),
          requestsPerSecond,
          errorsPerSecond: errors?.get(at) ?? 0,
          p99Ms: Number.isFinite(slowest) ? slowest : null,
        };
      });
      return { processes: up?.get(end) ?? 0, points };
    },
  };
};
