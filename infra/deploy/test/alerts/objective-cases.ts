import { constant, onValue, series, type Case, type Labels, type Series } from './series.ts';

const gateway = (route: string, failures: number): Series => ({
  [series('gateway_requests_total', { route, status: '200', answered_by: 'service' })]: '0+6000x120',
  [series('gateway_requests_total', { route, status: '503', answered_by: 'nginx' })]: `0+${failures}x120`,
});
/** Requests for lists: `slow` of 600 a minute take more than a second. `le` is `1` in Prometheus 2, and `1.0` in 3. */
const lists = (slow: number, le: '1' | '1.0'): Series => {
  const labels = {
    service: 'quest-service',
    method: 'GET',
    status: '200',
    route: '/v1/quests/{questId}/questions',
  };
  return {
    [series('http_request_duration_seconds_count', labels)]: '0+600x120',
    [series('http_request_duration_seconds_bucket', { ...labels, le })]: `0+${600 - slow}x120`,
  };
};
const missedObjective = (objective: string, times: number) => ({
  labels: { objective },
  summary: `Too many failures for the objective "${objective}": ${times} times as many as may be`,
});
const host: Labels = { instance: 'host-1' };
const job = (name: string): Labels => ({ namespace: 'platform', job_name: name });

/** Cases for the alerts on objectives and infrastructure. */
export const objectiveCases: readonly Case[] = [
  {
    alert: 'ObjectiveMissed',
    fault: gateway('/api/v1/hooks', 120),
    // 0.5 %: five times the allowed failures.
    healthy: gateway('/api/v1/hooks', 30),
    at: 10,
    ...missedObjective('webhooks acknowledged', 20),
  },
  {
    // More than six times the allowed failures, for hours.
    alert: 'ObjectiveMissed',
    fault: gateway('/callback', 42),
    healthy: gateway('/callback', 30),
    at: 100,
    ...missedObjective('callbacks answered', 7),
  },
  {
    alert: 'ObjectiveMissed',
    fault: lists(60, '1'),
    healthy: lists(12, '1.0'),
    at: 10,
    ...missedObjective('lists served', 20),
  },
  {
    // The alert ends soon after its cause, although there were many failures in the previous hour.
    alert: 'ObjectiveMissed',
    fault: gateway('/callback', 600),
    healthy: {
      ...gateway('/callback', 0),
      [series('gateway_requests_total', { route: '/callback', status: '503', answered_by: 'nginx' })]:
        '0+600x60 36000x60',
    },
    at: 100,
    ...missedObjective('callbacks answered', 91),
  },
  {
    alert: 'ObjectiveMissedSlowly',
    fault: gateway('/api/v1/hooks', 12),
    healthy: gateway('/api/v1/hooks', 3),
    at: 90,
    labels: { objective: 'webhooks acknowledged' },
    summary: 'For days there have been more failures than the objective "webhooks acknowledged" allows',
  },
  {
    alert: 'DiskNearlyFull',
    fault: {
      [series('node_filesystem_avail_bytes', { ...host, mountpoint: '/', fstype: 'ext4' })]: constant(5e9),
      [series('node_filesystem_size_bytes', { ...host, mountpoint: '/', fstype: 'ext4' })]: constant(100e9),
    },
    healthy: {
      [series('node_filesystem_avail_bytes', { ...host, mountpoint: '/run', fstype: 'tmpfs' })]: constant(0),
      [series('node_filesystem_size_bytes', { ...host, mountpoint: '/run', fstype: 'tmpfs' })]:
        constant(100e9),
    },
    at: 6,
    labels: { ...host, mountpoint: '/', fstype: 'ext4' },
    summary: 'Only 5% of / (host-1) is free',
  },
  {
    alert: 'DiskNearlyFull',
    fault: {
      [series('kubelet_volume_stats_available_bytes', { ...host, persistentvolumeclaim: 'spool-0' })]:
        constant(1e8),
      [series('kubelet_volume_stats_capacity_bytes', { ...host, persistentvolumeclaim: 'spool-0' })]:
        constant(2e9),
    },
    healthy: {
      [series('kubelet_volume_stats_available_bytes', { ...host, persistentvolumeclaim: 'spool-0' })]:
        constant(1e9),
      [series('kubelet_volume_stats_capacity_bytes', { ...host, persistentvolumeclaim: 'spool-0' })]:
        constant(2e9),
    },
    at: 6,
    labels: { ...host, persistentvolumeclaim: 'spool-0' },
    summary: 'Only 5% of spool-0 (host-1) is free',
  },
  onValue('ReplicationLags', 'pg_replication_lag_seconds', {
    seriesLabels: host,
    labels: host,
    faultyValue: 90,
    healthyValue: 1,
    at: 6,
    summary: 'The replica host-1 is 1m 30s behind its primary',
  }),
  onValue('CertificateExpires', 'probe_ssl_earliest_cert_expiry', {
    seriesLabels: host,
    labels: host,
    // Time starts at 0.
    faultyValue: 10 * 86_400,
    healthyValue: 60 * 86_400,
    at: 80,
    summary: 'The certificate of host-1 expires in 9d 22h 40m 0s',
  }),
  {
    alert: 'JobFailed',
    fault: { [series('kube_job_status_failed', job('quest-service-migrate-1-1-0'))]: constant(1) },
    healthy: { [series('kube_job_status_failed', job('somebody-elses-job'))]: constant(1) },
    at: 1,
    labels: job('quest-service-migrate-1-1-0'),
    summary: 'The job quest-service-migrate-1-1-0 has failed',
  },
  {
    alert: 'BackupOld',
    fault: { [series('platform_backup_timestamp_seconds', host)]: constant(-131_400) },
    healthy: { [series('platform_backup_timestamp_seconds', host)]: constant(-80_000) },
    at: 10,
    labels: {},
    summary: 'The last backup is 1d 12h 40m 0s old',
  },
];
