import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '@platform/gateway-telemetry/metrics';
import type { GatewayRequest } from '@platform/gateway-telemetry/receiver';
import { services as list } from '@platform/service-list';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { root, startService, type RunningService } from './service.ts';

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

/** The fragment that GitHub gives a heading. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

test.each(alerts.groups.flatMap(({ rules }) => rules))(
  'the guide of $alert has the section that it names',
  ({ annotations: { guide } }) => {
    const [file = '', fragment] = guide.split('#');
    const headings = readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm);
    expect([...headings].map(([, heading = '']) => fragmentOf(heading))).toContain(fragment);
  },
);

interface Question {
  where: string;
  expr: string;
  legend: string;
}
const questions: Question[] = [
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
 * Names of series that Prometheus, its rules and its exporters add, and their labels; `service`, `instance` and `job` are by
 * infra/deploy/observability/scrape.yaml.
 */
const added = {
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

interface Read {
  metric: string;
  labels: string[];
}

/** The selectors of an expression, each with the labels it looks at, and the labels of its groupings. */
const readExpression = (expr: string): { selectors: Read[]; groupings: string[]; faults: number } => {
  // Grafana puts durations in the place of its variables.
  const text = expr.replaceAll('$__rate_interval', '5m');
  const selectors: Read[] = [];
  const groupings: string[] = [];
  let faults = 0;
  parser.parse(text).iterate({
    enter: ({ name, from, to, node, type }) => {
      if (type.isError) faults += 1;
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
  return { selectors, groupings, faults };
};

/** Declared from the start, but without a value before the first hourly comparison; its labels. */
const later: Record<string, string[]> = { directory_drift_rows: ['list'] };

/** Series of a /metrics page: each name with its labels. */
const seriesOf = (page: string): Map<string, Set<string>> => {
  const series = new Map<string, Set<string>>();
  for (const line of page.split('\n')) {
    const [, declared] = /^# TYPE (\w+) /.exec(line) ?? [];
    if (declared !== undefined && declared in later) series.set(declared, new Set(later[declared]));
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

describe('the metrics that dashboard and alerts ask for', () => {
  const stack = new AsyncDisposableStack();
  const series = new Map<string, Set<string>>();

  beforeAll(async () => {
    const names = list.map(({ name }) => name);
    const services = new Map<string, RunningService>();
    // Two at a time: the machine has few cores.
    for (let at = 0; at < names.length; at += 2)
      await Promise.all(
        names.slice(at, at + 2).map(async (name) => {
          services.set(name, stack.use(await startService(name, { SMTP_URL: 'smtp://127.0.0.1:1' })));
        }),
      );
    const gateway = createMetrics();
    gateway.record(unreachable);
    // What is counted by request has no series before there was one.
    await fetch(`${services.get('quest-service')?.url}/v1/quests`);
    const callback = { method: 'POST', body: '{}' };
    await fetch(`${services.get('wallet-operator')?.url}/callback/balance`, callback);
    const pages = [...services.values()].map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
    for (const page of await Promise.all([...pages, gateway.registry.metrics()]))
      for (const [name, labels] of seriesOf(page))
        series.set(name, new Set([...(series.get(name) ?? []), ...labels]));
  });
  afterAll(() => stack.disposeAsync());

  test.each(questions)('$where: $expr', ({ expr, legend }) => {
    const { selectors, groupings, faults } = readExpression(expr);
    expect(faults).toBe(0);
    expect(selectors.length > 0 || expr.startsWith('vector(')).toBe(true);
    const known = new Set(added.labels);
    for (const { metric, labels } of selectors) {
      const own = added.metrics.includes(metric) ? new Set<string>() : series.get(metric);
      expect([metric, own]).toEqual([metric, expect.any(Set)]);
      for (const label of own ?? []) known.add(label);
      expect(labels.filter((label) => !known.has(label))).toEqual([]);
    }
    const shown = [...legend.matchAll(/\{\{\s*(?:\$labels\.)?([a-z]\w*)\s*\}\}/g)].map(
      ([, label = '']) => label,
    );
    expect([...groupings, ...shown].filter((label) => !known.has(label))).toEqual([]);
  });

  test('are checked: an unknown one is found', () => {
    expect(series.has('http_requests_total')).toBe(false);
    expect(readExpression('sum by (shop) (rate(x{y="1"}[5m]))')).toEqual({
      selectors: [{ metric: 'x', labels: ['y'] }],
      groupings: ['shop'],
      faults: 0,
    });
    expect(readExpression('sum by (').faults).toBeGreaterThan(0);
  });

  test('include every metric that the services and the gateway define', () => {
    const asked = new Set(
      questions.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => metric)),
    );
    const own = [...series.keys()].filter((name) =>
      /^(http|db|redis|metrics|gateway|webhooks|wallet|directory)_/.test(name),
    );
    const family = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
    expect(own.filter((name) => ![...asked].some((metric) => family(metric) === family(name)))).toEqual([]);
  });
});
