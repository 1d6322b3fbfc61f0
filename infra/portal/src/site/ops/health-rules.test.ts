import { expect, test } from 'vitest';
import type { AlertRule } from '../../alert-rules.ts';
import { evaluate, findingsOf, type Series } from './health-rules.ts';

const rule: AlertRule = {
  alert: 'Waits',
  metric: 'waiting',
  comparison: '>',
  threshold: 5,
  forSeconds: 120,
  severity: 'ticket',
  summary: 's',
  action: 'a',
  guide: 'docs/deploy.md#logs',
};
const minute = 60_000;
const series = (...values: (number | null)[]): Series => ({
  service: 'wallet',
  instance: 'a',
  labels: '',
  times: values.map((_, at) => at * minute),
  values,
});

test('an alert fires when its condition has held as long as the rule demands', () => {
  expect(evaluate(rule, series(0, 6, 7, 8))).toMatchObject({ since: minute, value: 8, isFiring: true });
  expect(evaluate(rule, series(0, 0, 7, 8))).toMatchObject({ since: 2 * minute, isFiring: false });
  expect(evaluate(rule, series(9, 9, 9, 5))).toBeUndefined();
  expect(evaluate(rule, series())).toBeUndefined();
});

test('a value that is unknown ends a span, and the begin of the first span is unknown', () => {
  expect(evaluate(rule, series(9, null, 9))).toMatchObject({ since: 2 * minute, isOlder: false });
  expect(evaluate(rule, series(9, 9))).toMatchObject({ since: 0, isOlder: true });
  expect(evaluate(rule, series(9, null))).toBeUndefined();
});

test.each([
  ['<', 0.5, 0.4, 0.5],
  ['==', 0, 0, 1],
] as const)('the comparison is that of the rule: %s %d', (comparison, threshold, bad, good) => {
  const other = { ...rule, comparison, threshold };
  expect(evaluate(other, series(bad))).toBeDefined();
  expect(evaluate(other, series(good))).toBeUndefined();
});

test('of several processes the one that fires is shown, and pages come before tickets', () => {
  const page: AlertRule = { ...rule, alert: 'Down', metric: 'down', severity: 'page' };
  const all = new Map([
    ['waiting', [series(0, 0, 9), { ...series(9, 9, 9), instance: 'b' }]],
    ['down', [series(9, 9, 9)]],
  ]);
  expect(findingsOf([rule, page], all)).toMatchObject([
    { rule: { alert: 'Down' } },
    { rule: { alert: 'Waits' }, series: { instance: 'b' }, isFiring: true },
  ]);
});
