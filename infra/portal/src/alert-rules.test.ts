import { expect, test } from 'vitest';
import { alertRules } from './alert-rules.ts';

const rules = await alertRules();

test('thresholds, durations and texts are those of the Prometheus rules', () => {
  expect(rules.find(({ alert }) => alert === 'RoundsStuck')).toEqual({
    alert: 'RoundsStuck',
    metric: 'wallet_stuck_rounds',
    comparison: '>',
    threshold: 0,
    forSeconds: 3600,
    severity: 'ticket',
    summary: expect.stringContaining('{{ $value }}'),
    action: expect.any(String),
    guide: expect.stringMatching(/^docs\/wallet-operator\.md#/),
  });
  expect(rules.find(({ alert }) => alert === 'ErrorRateHigh')).toMatchObject({
    metric: 'errors',
    threshold: 0.02,
    forSeconds: 300,
  });
});

test('every metric of the health strip has an alert rule', () => {
  const metrics = new Set(rules.map(({ metric }) => metric));
  for (const metric of [
    'up',
    'errors',
    'p99',
    'db_up',
    'webhooks_failed',
    'webhooks_refused',
    'webhooks_oldest_pending_seconds',
    'webhooks_spool_bytes',
    'webhooks_oldest_mail_seconds',
    'wallet_stuck_rounds',
    'wallet_proof_ok',
  ])
    expect(metrics).toContain(metric);
});
