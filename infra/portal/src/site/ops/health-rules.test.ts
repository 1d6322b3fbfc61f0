import { describe, expect, test } from 'vitest';
import { alertRules, type AlertRule } from '../../alert-rules.ts';
import {
  addEarlier,
  databaseConsequences,
  evaluate,
  findingsOf,
  groupFindings,
  type Series,
} from './health-rules.ts';

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

test('an alert keeps its begin when the reading that found it is not among the later samples', () => {
  const moment = (at: number, value: number): Series => ({ ...series(0, value), times: [0, at * minute] });
  const first = moment(1.2, 9);
  const later = addEarlier(moment(1.5, 9), first);
  expect(evaluate(rule, later)).toMatchObject({ since: 1.2 * minute });
  const ended = addEarlier({ ...series(0, 9, 0, 9), times: [0, 1.5, 2, 3].map((at) => at * minute) }, later);
  expect(evaluate(rule, ended)).toMatchObject({ since: 3 * minute });
});

test('earlier samples are forgotten after two hours', () => {
  const before = { ...series(1), times: [0] };
  expect(addEarlier({ ...series(2), times: [120 * minute] }, before).times).toHaveLength(2);
  expect(addEarlier({ ...series(2), times: [121 * minute] }, before).times).toHaveLength(1);
});

describe('an outage of the database', () => {
  const rules: AlertRule[] = [
    {
      ...rule,
      alert: 'DatabaseUnavailable',
      metric: 'db_up',
      comparison: '==',
      threshold: 0,
      severity: 'page',
    },
    { ...rule, alert: 'ErrorRateHigh', metric: 'errors', threshold: 0.02, severity: 'page' },
    { ...rule, alert: 'SpoolHoldsEvents', metric: 'spool', threshold: 0, severity: 'page' },
  ];
  const of = (service: string, ...values: number[]): Series => ({ ...series(...values), service });
  const shown = (all: ReadonlyMap<string, readonly Series[]>) =>
    groupFindings(findingsOf(rules, all)).map(({ findings, consequences }) => [
      findings[0]?.rule.alert,
      findings.map((finding) => finding.series.service),
      consequences.map((finding) => `${finding.rule.alert} ${finding.series.service}`),
    ]);

  test('is one entry for all services, with the alerts that follow from it', () => {
    const all = new Map([
      ['db_up', [of('a', 0, 0, 0), of('b', 0, 0, 0), of('c', 1)]],
      ['errors', [of('a', 1), of('b', 1), of('c', 1)]],
      ['spool', [of('a', 1)]],
    ]);
    expect(shown(all)).toEqual([
      ['DatabaseUnavailable', ['a', 'b'], ['ErrorRateHigh a', 'ErrorRateHigh b']],
      ['ErrorRateHigh', ['c'], []],
      ['SpoolHoldsEvents', ['a'], []],
    ]);
  });

  test('hides no alert when the databases answer', () => {
    const all = new Map([
      ['db_up', [of('a', 1)]],
      ['errors', [of('a', 1), of('b', 1)]],
    ]);
    expect(shown(all)).toEqual([['ErrorRateHigh', ['a', 'b'], []]]);
  });

  test('explains only alerts that exist', async () => {
    const names = (await alertRules()).map(({ alert }) => alert);
    expect(names).toEqual(expect.arrayContaining([...databaseConsequences, 'DatabaseUnavailable']));
  });
});
