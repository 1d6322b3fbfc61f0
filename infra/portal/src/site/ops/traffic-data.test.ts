import { expect, test } from 'vitest';
import { combine, sourceOf, type Summary } from './traffic-data.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const origin = Date.UTC(2026, 0, 1) / 1000;

const process = (instance: string, ...points: [number, number, number, number | null][]): Summary => ({
  instance,
  startedAt: at(0),
  source: 'process',
  processes: null,
  points: points.map(([second, requestsPerSecond, errorsPerSecond, p99Ms]) => ({
    at: at(second),
    requestsPerSecond,
    errorsPerSecond,
    p99Ms,
  })),
});

test('rates of processes are added, and p99 is that of the slowest', () => {
  const one = process('a', [10, 4, 1, 5], [20, 0, 0, null]);
  const other = process('b', [20, 2, 2, 30], [10, 6, 0, 8]);
  expect(combine([one, other])).toEqual({
    times: [origin + 10, origin + 20],
    requests: [10, 2],
    errors: [10, 100],
    p99: [8, 30],
  });
});

test('values of Prometheus cover all processes, so they are not added up', () => {
  const one: Summary = { ...process('a', [10, 4, 1, 5]), source: 'prometheus' };
  const other: Summary = { ...process('b', [10, 6, 3, 30]), source: 'prometheus' };
  expect(combine([process('c', [10, 1, 0, 1]), one, other])).toMatchObject({
    requests: [6],
    errors: [50],
    p99: [30],
  });
});

test('without requests there is no error rate', () => {
  expect(combine([process('a', [10, 0, 0, null])])).toMatchObject({ errors: [null], p99: [null] });
});

test('a process that stopped half an hour ago no longer counts', () => {
  const { times } = combine([process('gone', [10, 1, 0, 1]), process('here', [1900, 1, 0, 1])]);
  expect(times).toEqual([origin + 1900]);
});

test('the source of the traffic is named: all processes, or those that answered', () => {
  const [one, other] = [process('web-1/7'), process('web-2/7')];
  expect(sourceOf([])).toBe('');
  expect(sourceOf([one])).toBe('answered by web-1/7');
  expect(sourceOf([one, other])).toBe('answered by web-2/7, and 1 more before');
  expect(sourceOf([one, { ...other, source: 'prometheus', processes: 3 }])).toBe('3 processes');
});

test('without processes there are no points', () => {
  expect(combine([])).toEqual({ times: [], requests: [], errors: [], p99: [] });
});
