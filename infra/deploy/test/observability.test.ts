import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '@platform/gateway-telemetry/metrics';
import type { GatewayRequest } from '@platform/gateway-telemetry/receiver';
import { services as list } from '@platform/service-list';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { root, serviceFolder, startService, type RunningService } from './service.ts';

const folder = join(root, 'infra/deploy/observability');

const Dashboard = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
  templating: z.object({ list: z.array(z.object({ name: z.string(), definition: z.string().optional() })) }),
});
const Alerts = z.object({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({
            summary: z.string().min(10),
            plural: z.string().optional(),
            action: z.string().min(5),
            guide: z.string().regex(/^docs\/[a-z-]+\.md#[a-z0-9-]+$/),
          }),
        }),
      ),
    }),
  ),
});

const dashboard = Dashboard.parse(JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')));
const alerts = Alerts.parse(parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')));

const Objectives = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.strictObject({
          record: z.string(),
          expr: z.string(),
          labels: z.object({ objective: z.string() }).optional(),
        }),
      ),
    }),
  ),
});
const records = Objectives.parse(parse(readFileSync(join(folder, 'objectives.yaml'), 'utf8'))).groups.flatMap(
  ({ rules }) => rules,
);

const OpenApi = z.object({
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(z.string(), z.object({ get: z.object({ operationId: z.string() }).optional() })),
});

/** The fragment that GitHub generates for a heading. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

test.each(alerts.groups.flatMap(({ rules }) => rules))(
  'the guide of $alert contains the linked section',
  ({ annotations: { guide } }) => {
    const [file = '', fragment] = guide.split('#');
    const headings = readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm);
    expect([...headings].map(([, heading = '']) => fragmentOf(heading))).toContain(fragment);
  },
);

interface Query {
  where: string;
  expr: string;
  legend: string;
}
const queries: Query[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, legend: legendFormat })),
  ),
  ...alerts.groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, annotations }) => ({ where: alert, expr, legend: annotations.summary })),
  ),
  ...records.map(({ record, expr, labels }) => ({
    where: [record, ...Object.values(labels ?? {})].join(' '),
    expr,
    legend: '',
  })),
];

/**
 * Names and labels of series that Prometheus, its rules and its exporters add. infra/deploy/observability/scrape.yaml adds
 * the labels `service`, `instance` and `job`.
 */
const external = {
  metrics: [
    'up',
    'probe_success',
    'probe_ssl_earliest_cert_expiry',
    'pg_replication_lag_seconds',
    'node_filesystem_avail_bytes',
    'node_filesystem_size_bytes',
    'kube_job_status_failed',
    'kubelet_volume_stats_available_bytes',
    'kubelet_volume_stats_capacity_bytes',
    'platform_backup_timestamp_seconds',
    ...records.map(({ record }) => record),
  ],
  labels: [
    'service',
    'instance',
    'job',
    'objective',
    'fstype',
    'mountpoint',
    'persistentvolumeclaim',
    'job_name',
  ],
};

interface Selector {
  metric: string;
  labels: string[];
}

/** Parses an expression into its selectors with their labels, and the labels of its groupings. */
const readExpression = (
  expr: string,
): { selectors: Selector[]; groupings: string[]; syntaxErrors: number } => {
  // Grafana replaces its variables with durations.
  const text = expr.replaceAll('$__rate_interval', '5m');
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  let syntaxErrors = 0;
  parser.parse(text).iterate({
    enter: ({ name, from, to, node, type }) => {
      if (type.isError) syntaxErrors += 1;
      if (name === 'VectorSelector') selectors.push({ metric: '', labels: [] });
      const selector = selectors.at(-1);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector' && selector)
        selector.metric = text.slice(from, to);
      if (name === 'LabelName') {
        const label = text.slice(from, to);
        if (node.parent?.name === 'GroupingLabels') groupings.push(label);
        else selector?.labels.push(label);
      }
    },
  });
  return { selectors, groupings, syntaxErrors };
};

/** Labels of metrics that have no value before the first hourly comparison. */
const labelsOfLateMetrics: Record<string, string[]> = { directory_drift_rows: ['list'] };

/** Parses a /metrics page into the labels of each metric. */
const seriesOf = (page: string): Map<string, Set<string>> => {
  const series = new Map<string, Set<string>>();
  for (const line of page.split('\n')) {
    const [, declared] = /^# TYPE (\w+) /.exec(line) ?? [];
    if (declared !== undefined && declared in labelsOfLateMetrics)
      series.set(declared, new Set(labelsOfLateMetrics[declared]));
    const [, name, labels = ''] = /^([a-z_][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = series.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    series.set(name, known);
  }
  return series;
};

/** A request to a service that is down. */
const unreachable: GatewayRequest = {
  trace: '',
  span: '',
  parent: '',
  requestId: '',
  method: 'GET',
  service: 'quest-service',
  route: '/v1/quests',
  status: 503,
  answeredBy: 'nginx',
  upstreamStatus: '502, 502',
  end: 0,
  seconds: 0.002,
};

test('the objective for lists counts every list that clients read', () => {
  const operations = list.flatMap(({ name }) => {
    const { servers, paths } = OpenApi.parse(
      JSON.parse(readFileSync(join(serviceFolder(name), 'openapi.json'), 'utf8')),
    );
    const [{ url } = { url: '' }] = servers;
    return Object.entries(paths).map(([path, { get }]) => ({ route: url + path, id: get?.operationId }));
  });
  const patterns = records
    .filter(({ labels }) => labels?.objective === 'lists served')
    .flatMap(({ expr }) => [...expr.matchAll(/([a-z_]+)\{[^}]*route=~"([^"]+)"/g)]);
  expect(patterns).toHaveLength(3);
  const lists =
    'listTasks listQuests listProjects listConsignments listPartners listInventoryItems listWarehouses';
  for (const [, metric = '', pattern] of patterns) {
    const counted = operations.filter(({ id, route }) => id && new RegExp(`^(?:${pattern})$`).test(route));
    // The gateway counts by the first segments of a path.
    const expected = [...lists.split(' '), ...(metric.startsWith('gateway') ? [] : ['listQuestions'])];
    expect(new Set(counted.map(({ id }) => id))).toEqual(new Set(expected));
  }
});

describe('the metrics in dashboard and alerts', () => {
  const services = new Map<string, RunningService>();
  const stack = new AsyncDisposableStack();
  const series = new Map<string, Set<string>>();

  beforeAll(async () => {
    const names = list.map(({ name }) => name);
    // Starts two services at a time, because the machine has few cores.
    for (let index = 0; index < names.length; index += 2)
      await Promise.all(
        names.slice(index, index + 2).map(async (name) => {
          services.set(name, stack.use(await startService(name, { SMTP_URL: 'smtp://127.0.0.1:1' })));
        }),
      );
    const gateway = createMetrics();
    gateway.record(unreachable);
    // Metrics that count requests have no series before the first request.
    await fetch(`${services.get('quest-service')?.url}/v1/quests`);
    const callback = { method: 'POST', body: '{}' };
    await fetch(`${services.get('wallet-operator')?.url}/callback/balance`, callback);
    const pages = [...services.values()].map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
    for (const page of await Promise.all([...pages, gateway.registry.metrics()]))
      for (const [name, labels] of seriesOf(page))
        series.set(name, new Set([...(series.get(name) ?? []), ...labels]));
  });
  afterAll(() => stack.disposeAsync());

  test.each(queries)('$where: $expr', ({ expr, legend }) => {
    const { selectors, groupings, syntaxErrors } = readExpression(expr);
    expect(syntaxErrors).toBe(0);
    expect(selectors.length > 0 || expr.startsWith('vector(')).toBe(true);
    const known = new Set(external.labels);
    for (const { metric, labels } of selectors) {
      const metricLabels = external.metrics.includes(metric) ? new Set<string>() : series.get(metric);
      expect([metric, metricLabels]).toEqual([metric, expect.any(Set)]);
      for (const label of metricLabels ?? []) known.add(label);
      expect(labels.filter((label) => !known.has(label))).toEqual([]);
    }
    const legendLabels = [...legend.matchAll(/\{\{\s*(?:\$labels\.)?([a-z]\w*)\s*\}\}/g)].map(
      ([, label = '']) => label,
    );
    expect([...groupings, ...legendLabels].filter((label) => !known.has(label))).toEqual([]);
  });

  test.each(list)(
    'the blackbox exporter accepts what $name responds to its probe',
    async ({ name, deploy }) => {
      const { modules } = parse(readFileSync(join(folder, 'blackbox.yaml'), 'utf8')) as {
        modules: { answers: { http: { valid_status_codes: number[] } } };
      };
      const { status } = await fetch(`${services.get(name)?.url}${deploy.probe}`);
      expect(modules.answers.http.valid_status_codes).toContain(status);
    },
  );

  test('are checked: unknown names and syntax errors are detected', () => {
    expect(series.has('http_requests_total')).toBe(false);
    expect(readExpression('sum by (shop) (rate(x{y="1"}[5m]))')).toEqual({
      selectors: [{ metric: 'x', labels: ['y'] }],
      groupings: ['shop'],
      syntaxErrors: 0,
    });
    expect(readExpression('sum by (').syntaxErrors).toBeGreaterThan(0);
  });

  test('include every metric of the services and the gateway', () => {
    const usedMetrics = new Set(
      queries.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => metric)),
    );
    const platformMetrics = [...series.keys()].filter((name) =>
      /^(http|db|redis|metrics|gateway|webhooks|wallet|directory)_/.test(name),
    );
    const family = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
    expect(
      platformMetrics.filter((name) => ![...usedMetrics].some((metric) => family(metric) === family(name))),
    ).toEqual([]);
  });
});
