import { expect, test } from 'vitest';
import type { Finding } from './health-rules.ts';
import { bytes, duration, guideAddress, summaryOf } from './health-text.ts';

const finding = (summary: string, value: number): Finding => ({
  rule: {
    alert: 'A',
    metric: 'm',
    comparison: '>',
    threshold: 0,
    forSeconds: 0,
    severity: 'ticket',
    summary,
    action: 'a',
    guide: 'docs/deploy.md#logs',
  },
  series: { service: 'wallet', instance: 'w/1', labels: '{list="tasks"}', times: [0], values: [value] },
  value,
  since: 0,
  isOlder: false,
  isFiring: true,
});

test.each([
  ['{{ $value }} rounds of {{ $labels.service }}', 3, '3 rounds of wallet'],
  ['{{ $value | humanizePercentage }} of {{ $labels.instance }}', 0.025, '2.5 % of w/1'],
  ['for {{ $value | humanizeDuration }}', 3600, 'for 1 h'],
  ['takes {{ $value | humanize1024 }}B', 450_000_000, 'takes 450 MB'],
  ['list {{ $labels.list }}', 1, 'list tasks'],
  ['nothing to fill in', 1, 'nothing to fill in'],
])('the summary %j is filled in', (summary, value, text) => {
  expect(summaryOf(finding(summary, value))).toBe(text);
});

test('spans, amounts and addresses of guides', () => {
  expect([59, 61, 7200, 200_000].map(duration)).toEqual(['59 s', '1 min', '2 h', '2 days']);
  expect([0, 999, 1200, 3_400_000].map(bytes)).toEqual(['0 B', '999 B', '1.2 kB', '3.4 MB']);
  expect(guideAddress('docs/deploy.md#logs')).toBe('/docs/guides/deploy/#logs');
});
