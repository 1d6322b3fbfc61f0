import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';

/** An alert rule of Prometheus that the operations page evaluates itself. */
export interface AlertRule {
  alert: string;
  /** A gauge of the services, or one of the values that the page knows: `up`, `errors` and `p99`. */
  metric: string;
  comparison: '>' | '<' | '==';
  threshold: number;
  /** The condition must hold for so long. */
  forSeconds: number;
  severity: 'page' | 'ticket';
  /** With placeholders such as `{{ $value }}`. */
  summary: string;
  action: string;
  /** Section of a guide, such as `docs/deploy.md#logs`. */
  guide: string;
}

interface Source {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: AlertRule['severity'] };
  annotations: { summary: string; action: string; guide: string };
}

const file = resolve(import.meta.dirname, '../../deploy/observability/alerts.yaml');

const seconds = { s: 1, m: 60, h: 3600 } as const;

/** Expressions over histograms, which the page computes from `/ops/summary`. */
const computed: Readonly<Record<string, string>> = { ErrorRateHigh: 'errors', ResponsesSlow: 'p99' };

/** `METRIC > 1`, also inside of `max by (…) (…)` and `abs(…)`. */
const simple = /^(?:max by \([\w, ]+\) \()?(?:abs\()?([a-z][a-z_]*)(?:\{job="platform"\})?\)*$/;

const ruleOf = ({ alert, expr, for: duration, labels, annotations }: Source): AlertRule[] => {
  const [, left = '', comparison = '', threshold = ''] = /^(.*) (>|<|==) ([\d.e]+)$/s.exec(expr.trim()) ?? [];
  const metric = computed[alert] ?? simple.exec(left)?.[1];
  if (metric === undefined) return [];
  return [
    {
      alert,
      metric,
      comparison: comparison as AlertRule['comparison'],
      threshold: Number(threshold),
      forSeconds: duration ? Number.parseInt(duration) * seconds[duration.at(-1) as 'm'] : 0,
      severity: labels.severity,
      ...annotations,
    },
  ];
};

/** The rules of alerts.yaml that compare one value with a number; the others only Prometheus can evaluate. */
export const alertRules = async (): Promise<AlertRule[]> => {
  const { groups } = parse(await readFile(file, 'utf8')) as { groups: { rules: Source[] }[] };
  return groups.flatMap(({ rules }) => rules.flatMap(ruleOf));
};
