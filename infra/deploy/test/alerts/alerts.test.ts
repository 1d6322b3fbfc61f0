import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {} from '@platform/local/provided';
import { describe, expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { root } from '../service.ts';
import { objectiveCases } from './objective-cases.ts';
import { serviceCases } from './service-cases.ts';
import { walletCases } from './wallet-cases.ts';
import { webhookCases } from './webhook-cases.ts';

const cases = [...serviceCases, ...webhookCases, ...walletCases, ...objectiveCases];

interface Rule {
  alert: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const folder = join(root, 'infra/deploy/observability');
const file = join(folder, 'alerts.yaml');
const rules = (parse(await readFile(file, 'utf8')).groups as { rules: Rule[] }[]).flatMap(
  (group) => group.rules,
);
const promtool = inject('promtoolPath');

const run = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(promtool ?? '', args)).stdout;

/** Tests the rules with the series of all cases and returns the output of promtool. @throws if an alert is not as expected */
const evaluate = async (expected: 'fault' | 'healthy'): Promise<string> => {
  const temporary = await mkdtemp(join(tmpdir(), 'alerts-'));
  const tests = cases.map(({ alert, at, labels, summary, ...series }) => {
    const rule = rules.find((candidate) => candidate.alert === alert);
    const firing = {
      exp_labels: { ...labels, ...rule?.labels },
      exp_annotations: { ...rule?.annotations, summary },
    };
    return {
      interval: '1m',
      input_series: Object.entries(series[expected]).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [
        { eval_time: `${at}m`, alertname: alert, exp_alerts: expected === 'fault' ? [firing] : [] },
      ],
    };
  });
  try {
    await writeFile(
      join(temporary, 'tests.yaml'),
      stringify({ rule_files: [join(folder, 'objectives.yaml'), file], tests }),
    );
    return await run('test', 'rules', join(temporary, 'tests.yaml'));
  } finally {
    await rm(temporary, { recursive: true });
  }
};

describe.skipIf(promtool === null)('in Prometheus', () => {
  test('each alert fires for its fault with the right summary', async () => {
    expect(await evaluate('fault')).toContain('SUCCESS');
  });

  test('the configuration of compose is valid', async () => {
    expect(await run('check', 'config', join(folder, 'prometheus.yaml'))).toContain('SUCCESS');
  });

  test('no alert fires without its fault', async () => {
    expect(await evaluate('healthy')).toContain('SUCCESS');
  });
});

test('each alert has a case', () => {
  expect([...new Set(cases.map(({ alert }) => alert))].toSorted()).toEqual(
    rules.map(({ alert }) => alert).toSorted(),
  );
});

test.each([
  ['docs/deploy.md', 'Monitoring'],
  ['infra/deploy/observability/README.md', 'Seen firing'],
])('the table of %s has each alert', async (page, heading) => {
  const [, section = ''] = (await readFile(join(root, page), 'utf8')).split(`# ${heading}\n`);
  const rows = section.split(/^#/m)[0]?.match(/^\|.*\|$/gm) ?? [];
  const names = [...rows.join('').matchAll(/`([A-Z][a-z]\w+)`/g)].map(([, name = '']) => name);
  expect(new Set(names)).toEqual(new Set(rules.map(({ alert }) => alert)));
});
