import { constant, onValue, series, webhooks, type Case } from './series.ts';

/** Cases for the alerts on store-webhooks. */
export const webhookCases: readonly Case[] = [
  onValue('SpoolHoldsEvents', 'webhooks_spool_bytes', {
    seriesLabels: webhooks,
    labels: webhooks,
    faultyValue: 4096,
    healthyValue: 0,
    at: 6,
    summary: 'Acknowledged events wait on the disk of hooks-1',
  }),
  onValue('SpoolNearlyFull', 'webhooks_spool_free_ratio', {
    seriesLabels: webhooks,
    labels: webhooks,
    faultyValue: 0.25,
    healthyValue: 1,
    at: 1,
    summary: 'The spool of hooks-1 can take only 25% of SPOOL_MAX_BYTES',
  }),
  onValue('SpoolDamaged', 'webhooks_spool_damaged_files', {
    seriesLabels: webhooks,
    labels: webhooks,
    faultyValue: 2,
    healthyValue: 0,
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
    seriesLabels: webhooks,
    faultyValue: 3,
    healthyValue: 0,
    at: 1,
    summary: 'Events that failed in the last 24 hours and are not retried any more: 3',
  }),
  onValue('EventsTakenForTests', 'webhooks_stores_with_many_tests', {
    seriesLabels: webhooks,
    faultyValue: 1,
    healthyValue: 0,
    at: 1,
    summary: 'Stores whose POS has sent many different test events in the last 24 hours: 1',
  }),
  onValue('EventsRefused', 'webhooks_refused', {
    seriesLabels: webhooks,
    faultyValue: 5,
    healthyValue: 0,
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
    seriesLabels: webhooks,
    labels: webhooks,
    faultyValue: 1800,
    healthyValue: 0,
    at: 2,
    summary:
      'hooks-1 reaches neither its database nor Redis, and may accept replaced webhook tokens for another 30m 0s',
  }),
  onValue('OldestEventWaits', 'webhooks_oldest_pending_seconds', {
    seriesLabels: webhooks,
    faultyValue: 3600,
    healthyValue: 60,
    at: 1,
    summary: 'An event has been waiting for 1h 0m 0s',
  }),
  onValue('MailsWait', 'webhooks_oldest_mail_seconds', {
    seriesLabels: webhooks,
    faultyValue: 3600,
    healthyValue: 60,
    at: 1,
    summary: 'A mail has been waiting for 1h 0m 0s',
  }),
];
