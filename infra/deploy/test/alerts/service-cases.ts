import { services } from '@platform/service-list';
import { constant, onValue, replica, series, webhooks, type Case, type Series } from './series.ts';

const responses = (status: string) =>
  series('http_request_duration_seconds_count', { service: 'quest-service', status });
const buckets = (slow: number): Series =>
  Object.fromEntries(
    Object.entries({ '0.5': 100, '1': 100, '2.5': 100 + slow, '+Inf': 100 + slow }).map(([le, count]) => [
      series('http_request_duration_seconds_bucket', { service: 'quest-service', route: '/v1/quests', le }),
      `0+${count}x120`,
    ]),
  );
const gatewayResponses = (answeredBy: string, status: string, route = '/v1/quests') =>
  series('gateway_requests_total', { upstream: 'quest-service', route, status, answered_by: answeredBy });
const up = (service: string) => series('up', { service, job: 'platform', instance: 'one' });
/** Series `up` of every service and the gateway; `changes` replaces values. */
const everyService = (changes: Record<string, string> = {}): Series =>
  Object.fromEntries(
    ['gateway', ...services.map(({ name }) => name)].map((name) => [up(name), changes[name] ?? constant(1)]),
  );
const pool = (active: number): Series => ({
  [series('db_pool_connections', { ...replica, state: 'active' })]: constant(active),
  [series('db_pool_connections', { ...replica, state: 'idle' })]: constant(6 - active),
  [series('db_pool_max', replica)]: constant(6),
});

/** Cases for the alerts on services, gateway, databases and page directories. */
export const serviceCases: readonly Case[] = [
  {
    // nginx is down, but gateway-telemetry runs.
    alert: 'ServiceDown',
    fault: { [up('gateway')]: constant(0), [up('gateway-telemetry')]: constant(1) },
    healthy: { [up('gateway')]: constant(1), [up('gateway-telemetry')]: constant(1) },
    at: 2,
    labels: { service: 'gateway', job: 'platform', instance: 'one' },
    summary: 'gateway (one) does not answer',
  },
  onValue('ServiceDown', 'up', {
    seriesLabels: { ...replica, job: 'platform' },
    labels: { ...replica, job: 'platform' },
    faultyValue: 0,
    healthyValue: 1,
    at: 2,
    summary: 'quest-service (quest-1) does not answer',
  }),
  {
    alert: 'ServiceGone',
    fault: everyService({ consignments: '1x3 stale' }),
    healthy: everyService(),
    at: 7,
    labels: { service: 'consignments' },
    summary: 'No replica of consignments is running',
  },
  {
    alert: 'ServiceGone',
    // The gateway has never run, but a service does.
    fault: { [up('quest-service')]: constant(1) },
    // Services that are not deployed are not reported.
    healthy: { [up('gateway')]: constant(1), [up('quest-service')]: constant(1) },
    at: 3,
    labels: { service: 'gateway' },
    summary: 'No replica of gateway is running',
  },
  onValue('ProbeFails', 'probe_success', {
    seriesLabels: { service: 'consignments', instance: '/v1/consignments', job: 'probes' },
    labels: { service: 'consignments', instance: '/v1/consignments', job: 'probes' },
    faultyValue: 0,
    healthyValue: 1,
    at: 3,
    summary: 'A client of consignments gets no answer (/v1/consignments through the gateway)',
  }),
  {
    alert: 'ErrorRateHigh',
    fault: { [responses('200')]: '0+97x120', [responses('500')]: '0+3x120' },
    healthy: {
      [responses('200')]: '0+99x120',
      [responses('500')]: '0+1x120',
      [responses('404')]: '0+50x120',
    },
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
    seriesLabels: replica,
    labels: replica,
    faultyValue: 0.3,
    healthyValue: 0.02,
    at: 6,
    summary: 'quest-1 answers late because its processor is busy',
  }),
  onValue('MemoryHigh', 'process_resident_memory_bytes', {
    seriesLabels: replica,
    labels: replica,
    faultyValue: 480 * 2 ** 20,
    healthyValue: 110e6,
    at: 11,
    summary: 'quest-1 takes 480MiB',
  }),
  {
    alert: 'GatewayErrors',
    fault: {
      [gatewayResponses('service', '200')]: '0+600x120',
      [gatewayResponses('nginx', '503')]: '0+60x120',
    },
    healthy: {
      [gatewayResponses('service', '503')]: '0+600x120',
      [gatewayResponses('nginx', '404')]: '0+60x120',
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
    fault: { [gatewayResponses('nginx', '429')]: '0+120x120' },
    healthy: {
      [gatewayResponses('nginx', '429')]: '0+30x120',
      [gatewayResponses('service', '429')]: '0+120x120',
    },
    at: 20,
    labels: { route: '/v1/quests' },
    summary: 'The gateway refuses 2.0 requests a second to /v1/quests, because one client sends too many',
  },
  onValue('DatabaseUnavailable', 'db_up', {
    seriesLabels: replica,
    labels: replica,
    faultyValue: 0,
    healthyValue: 1,
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
    seriesLabels: replica,
    labels: replica,
    faultyValue: 0,
    healthyValue: 1,
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
  ...[pool(5), { [series('wallet_waiting', replica)]: constant(50) }].map((waiting): Case => {
    const processor = series('process_cpu_seconds_total', { ...replica, job: 'platform' });
    return {
      alert: 'DatabaseIsTheLimit',
      fault: { ...waiting, [processor]: '0+12x120' },
      // The processor of the service itself is the bottleneck.
      healthy: { ...waiting, [processor]: '0+54x120' },
      at: 40,
      labels: { service: 'quest-service' },
      summary: 'For half an hour quest-service has waited for PostgreSQL, and not for a processor of its own',
    };
  }),
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
  onValue('SubscriptionDisabled', 'subscriptions_disabled', {
    seriesLabels: replica,
    labels: { service: 'quest-service' },
    faultyValue: 2,
    healthyValue: 0,
    at: 1,
    summary: 'Subscriptions of quest-service that get no changes any more: 2',
  }),
  onValue('DirectoryDrifts', 'directory_drift_rows', {
    seriesLabels: { ...replica, list: 'quests' },
    labels: { service: 'quest-service', list: 'quests' },
    faultyValue: -2,
    healthyValue: 0,
    at: 1,
    summary: 'Totals of quests in quest-service are off by 2',
  }),
  onValue('DirectoryLags', 'directory_pending_changes', {
    seriesLabels: { ...replica, list: 'quests' },
    labels: { service: 'quest-service', list: 'quests' },
    faultyValue: 30_000,
    healthyValue: 10,
    at: 6,
    summary: 'Every page of quests adds up 30000 pending changes',
  }),
];
