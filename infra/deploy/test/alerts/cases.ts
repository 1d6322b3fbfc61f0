/** Series in the notation of promtool (`0+10x40`: 0, and 40 times 10 more), a value each minute. */
type Series = Record<string, string>;

/** A fault at which an alert fires, and what it looks like without that fault. */
export interface Case {
  alert: string;
  fault: Series;
  healthy: Series;
  /** Minutes after the first value; `fault` fires at this time, `healthy` at no time. */
  at: number;
  /** Labels of the alert beside its severity. */
  labels: Record<string, string>;
  summary: string;
}

const replica = { service: 'quest-service', instance: 'quest-1' };
const webhooks = { service: 'store-webhooks', instance: 'hooks-1' };
const wallet = { service: 'wallet-operator', instance: 'wallet-1' };
type Labels = Record<string, string>;

const series = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

const constant = (value: number | string): string => `${value}x120`;

/** An alert on one value of a replica. It names the service alone unless `labels` says otherwise. */
const onValue = (
  alert: string,
  metric: string,
  {
    of,
    labels = { service: of.service ?? '' },
    bad,
    good,
    at,
    summary,
  }: {
    of: Labels;
    labels?: Labels;
    bad: number | string;
    good: number | string;
    at: number;
    summary: string;
  },
): Case => ({
  alert,
  fault: { [series(metric, of)]: constant(bad) },
  healthy: { [series(metric, of)]: constant(good) },
  at,
  labels,
  summary,
});

/** promtool knows no NaN, which is what these metrics are before their first value. */
const absent = constant('_');

const answers = (status: string) =>
  series('http_request_duration_seconds_count', { service: 'quest-service', status });
const buckets = (slow: number): Series =>
  Object.fromEntries(
    Object.entries({ '0.5': 100, '1': 100, '2.5': 100 + slow, '+Inf': 100 + slow }).map(([le, each]) => [
      series('http_request_duration_seconds_bucket', { service: 'quest-service', route: '/v1/quests', le }),
      `0+${each}x120`,
    ]),
  );
const gatewayAnswers = (answeredBy: string, status: string, route = '/v1/quests') =>
  series('gateway_requests_total', { upstream: 'quest-service', route, status, answered_by: answeredBy });
const everyService = (without?: string): Series =>
  Object.fromEntries([
    ['up{service="gateway",job="platform"}', constant(1)],
    ...[
      'task-manager',
      'quest-service',
      'store-webhooks',
      'wallet-operator',
      'verify-projects',
      'consignments',
    ]
      .filter((name) => name !== without)
      .map((name) => [`db_up{service="${name}",instance="one"}`, constant(1)]),
  ]);
const proof = (age: string, walkAge: string): Series => ({
  [series('wallet_proof_age_seconds', wallet)]: age,
  [series('wallet_seal_walk_age_seconds', wallet)]: walkAge,
});
const pool = (active: number): Series => ({
  [series('db_pool_connections', { ...replica, state: 'active' })]: constant(active),
  [series('db_pool_connections', { ...replica, state: 'idle' })]: constant(6 - active),
  [series('db_pool_max', replica)]: constant(6),
});

export const cases: readonly Case[] = [
  onValue('ServiceDown', 'up', {
    of: { ...replica, job: 'platform' },
    labels: { ...replica, job: 'platform' },
    bad: 0,
    good: 1,
    at: 2,
    summary: 'quest-service (quest-1) does not answer',
  }),
  {
    alert: 'ServiceGone',
    fault: everyService('consignments'),
    healthy: everyService(),
    at: 3,
    labels: { service: 'consignments' },
    summary: 'No replica of consignments is running',
  },
  {
    alert: 'ErrorRateHigh',
    fault: { [answers('200')]: '0+97x120', [answers('500')]: '0+3x120' },
    healthy: { [answers('200')]: '0+99x120', [answers('500')]: '0+1x120', [answers('404')]: '0+50x120' },
    at: 15,
    labels: { service: 'quest-service' },
    summary: '3% of the answers of quest-service are errors',
  },
  {
    alert: 'ResponsesSlow',
    fault: buckets(2),
    healthy: buckets(0),
    at: 20,
    labels: { service: 'quest-service' },
    summary: 'One answer in a hundred of quest-service takes over a second',
  },
  onValue('EventLoopLags', 'nodejs_eventloop_lag_p99_seconds', {
    of: replica,
    labels: replica,
    bad: 0.3,
    good: 0.02,
    at: 6,
    summary: 'quest-1 answers late because its processor is busy',
  }),
  onValue('MemoryHigh', 'process_resident_memory_bytes', {
    of: replica,
    labels: replica,
    bad: 480 * 2 ** 20,
    good: 110e6,
    at: 11,
    summary: 'quest-1 takes 480MiB',
  }),
  {
    alert: 'GatewayErrors',
    fault: { [gatewayAnswers('service', '200')]: '0+600x120', [gatewayAnswers('nginx', '503')]: '0+60x120' },
    healthy: {
      [gatewayAnswers('service', '503')]: '0+600x120',
      [gatewayAnswers('nginx', '404')]: '0+60x120',
    },
    at: 15,
    labels: { upstream: 'quest-service' },
    summary: 'nginx itself answers 9.091% of the requests for quest-service with 500, 502, 503 or 504',
  },
  {
    alert: 'GatewayRetries',
    fault: { 'gateway_upstream_attempts_total{upstream="quest-service",status="502"}': '0+12x120' },
    healthy: { 'gateway_upstream_attempts_total{upstream="quest-service",status="200"}': '0+600x120' },
    at: 20,
    labels: { upstream: 'quest-service' },
    summary: 'The gateway cannot reach some replicas of quest-service',
  },
  {
    alert: 'ClientsRefused',
    fault: { [gatewayAnswers('nginx', '429')]: '0+120x120' },
    healthy: {
      [gatewayAnswers('nginx', '429')]: '0+30x120',
      [gatewayAnswers('service', '429')]: '0+120x120',
    },
    at: 20,
    labels: { route: '/v1/quests' },
    summary: 'The gateway refuses 2.0 requests a second to /v1/quests, because one client sends too many',
  },
  onValue('DatabaseUnavailable', 'db_up', {
    of: replica,
    labels: replica,
    bad: 0,
    good: 1,
    at: 2,
    summary: 'quest-service (quest-1) has lost its database',
  }),
  {
    alert: 'ValuesOld',
    fault: {
      [series('metrics_reading_age_seconds', { ...webhooks, reading: 'queue' })]: constant(660),
      [series('db_up', webhooks)]: constant(1),
    },
    healthy: {
      [series('metrics_reading_age_seconds', { ...webhooks, reading: 'queue' })]: constant(660),
      [series('db_up', webhooks)]: constant(0),
    },
    at: 6,
    labels: { ...webhooks, reading: 'queue' },
    summary: 'The values of queue of hooks-1 are 11m 0s old',
  },
  onValue('RedisUnavailable', 'redis_up', {
    of: replica,
    labels: replica,
    bad: 0,
    good: 1,
    at: 3,
    summary: 'quest-service (quest-1) has lost Redis',
  }),
  {
    alert: 'PoolFull',
    fault: pool(6),
    healthy: pool(5),
    at: 6,
    labels: replica,
    summary: 'Nearly all connections of quest-1 are at work',
  },
  {
    alert: 'RequestsRefused',
    fault: {
      [series('db_pool_refused_total', replica)]: '0+1x120',
      [series('http_requests_refused_total', replica)]: constant(0),
    },
    healthy: {
      [series('db_pool_refused_total', replica)]: constant(7),
      [series('http_requests_refused_total', replica)]: constant(3),
    },
    at: 15,
    labels: replica,
    summary: 'quest-1 refuses requests with 503, because too many are in progress or wait for a connection',
  },
  onValue('SpoolHoldsEvents', 'webhooks_spool_bytes', {
    of: webhooks,
    labels: webhooks,
    bad: 4096,
    good: 0,
    at: 6,
    summary: 'Acknowledged events wait on the disk of hooks-1',
  }),
  onValue('SpoolNearlyFull', 'webhooks_spool_free_ratio', {
    of: webhooks,
    labels: webhooks,
    bad: 0.25,
    good: 1,
    at: 1,
    summary: 'The spool of hooks-1 can take only 25% of SPOOL_MAX_BYTES',
  }),
  onValue('SpoolDamaged', 'webhooks_spool_damaged_files', {
    of: webhooks,
    labels: webhooks,
    bad: 2,
    good: 0,
    at: 1,
    summary: 'Damaged spool files on the disk of hooks-1: 2',
  }),
  {
    alert: 'EventsWait',
    fault: { [series('webhooks_pending', webhooks)]: '1500+10x120' },
    healthy: { [series('webhooks_pending', webhooks)]: '5000-10x120' },
    at: 20,
    labels: { service: 'store-webhooks' },
    summary: '1700 events wait, and the number is growing',
  },
  onValue('EventsFailed', 'webhooks_failed', {
    of: webhooks,
    bad: 3,
    good: 0,
    at: 1,
    summary: 'Events that failed in the last 24 hours and are not retried any more: 3',
  }),
  onValue('EventsTakenForTests', 'webhooks_stores_with_many_tests', {
    of: webhooks,
    bad: 1,
    good: 0,
    at: 1,
    summary: 'Stores whose POS has sent many different test events in the last 24 hours: 1',
  }),
  onValue('EventsRefused', 'webhooks_refused', {
    of: webhooks,
    bad: 5,
    good: 0,
    at: 1,
    summary: 'Events of the last 24 hours whose signatures are not valid: 5',
  }),
  {
    alert: 'ChallengeMismatch',
    fault: { [series('webhooks_challenge_mismatches_total', webhooks)]: '0x10 1x110' },
    healthy: { [series('webhooks_challenge_mismatches_total', webhooks)]: constant(4) },
    at: 15,
    labels: { service: 'store-webhooks' },
    summary: '3DS challenges were sent for payments that they do not belong to: 1',
  },
  onValue('ReplacedTokensAccepted', 'webhooks_replaced_tokens_accepted_seconds', {
    of: webhooks,
    labels: webhooks,
    bad: 1800,
    good: 0,
    at: 2,
    summary:
      'hooks-1 reaches neither its database nor Redis, and may accept replaced webhook tokens for another 30m 0s',
  }),
  onValue('OldestEventWaits', 'webhooks_oldest_pending_seconds', {
    of: webhooks,
    bad: 3600,
    good: 60,
    at: 1,
    summary: 'An event has been waiting for 1h 0m 0s',
  }),
  onValue('MailsWait', 'webhooks_oldest_mail_seconds', {
    of: webhooks,
    bad: 3600,
    good: 60,
    at: 1,
    summary: 'A mail has been waiting for 1h 0m 0s',
  }),
  onValue('LedgerInconsistent', 'wallet_proof_ok', {
    of: wallet,
    bad: 0,
    good: '_',
    at: 1,
    summary: 'Something in the ledger is wrong',
  }),
  {
    alert: 'LedgerNotProved',
    fault: proof(absent, '172700+60x120'),
    healthy: proof(constant(3600), '172700+60x120'),
    at: 5,
    labels: { service: 'wallet-operator' },
    summary: 'The ledger has not been proved for two days',
  },
  {
    alert: 'LedgerNotProved',
    fault: proof('172700+60x120', constant(3600)),
    healthy: proof(constant(3600), constant(3600)),
    at: 5,
    labels: { service: 'wallet-operator' },
    summary: 'The ledger has not been proved for two days',
  },
  onValue('SealedEntriesNotChecked', 'wallet_seal_walk_age_seconds', {
    of: wallet,
    bad: 9 * 86_400,
    good: 7 * 86_400,
    at: 1,
    summary: 'The sealed entries were last compared with their seals 9d 0h 0m 0s ago',
  }),
  onValue('RoundsStuck', 'wallet_stuck_rounds', {
    of: wallet,
    bad: 2,
    good: 0,
    at: 61,
    summary: '2 rounds are open for too long',
  }),
  onValue('CallbacksWait', 'wallet_waiting', {
    of: wallet,
    labels: wallet,
    bad: 120,
    good: 20,
    at: 2,
    summary:
      '120 callbacks wait at wallet-1; with MAX_IN_PROGRESS (160) requests in progress, more are refused',
  }),
  onValue('PlayersLocked', 'wallet_locked_players', {
    of: wallet,
    bad: 1,
    good: 0,
    at: 2,
    summary: 'Callbacks of 1 players wait because another transaction holds their row',
  }),
  onValue('EntriesNotSealed', 'wallet_unsealed_seconds', {
    of: wallet,
    bad: 600,
    good: 10,
    at: 6,
    summary: 'Entries of the ledger wait for their checkpoint for 10m 0s',
  }),
  onValue('SummaryOverdue', 'wallet_summary_overdue_seconds', {
    of: wallet,
    bad: 10_800,
    good: 0,
    at: 16,
    summary: 'The sums of a day that ended 3h 0m 0s ago are not stored',
  }),
  onValue('ReconciliationsFailing', 'wallet_failing_reconciliations', {
    of: wallet,
    bad: 1,
    good: 0,
    at: 16,
    summary: 'Reconciliations that failed or do not move: 1',
  }),
  {
    alert: 'CallbacksRefused',
    fault: {
      'wallet_callbacks_total{service="wallet-operator",status="ERROR_INVALID_SIGNATURE"}': '0+120x120',
    },
    healthy: {
      'wallet_callbacks_total{service="wallet-operator",status="ERROR_NOT_ENOUGH_MONEY"}': '0+120x120',
    },
    at: 15,
    labels: { service: 'wallet-operator' },
    summary: 'Callbacks are refused: wrong signatures, or their outcome is unknown',
  },
  onValue('DirectoryDrifts', 'directory_drift_rows', {
    of: { ...replica, list: 'quests' },
    labels: { service: 'quest-service', list: 'quests' },
    bad: -2,
    good: 0,
    at: 1,
    summary: 'Totals of quests in quest-service are off by 2',
  }),
  onValue('DirectoryLags', 'directory_pending_changes', {
    of: { ...replica, list: 'quests' },
    labels: { service: 'quest-service', list: 'quests' },
    bad: 30_000,
    good: 10,
    at: 6,
    summary: 'Every page of quests adds up 30000 pending changes',
  }),
];
