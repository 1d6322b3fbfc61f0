import type { Health as Values } from './health-data.ts';
import { bytes, duration, guideAddress } from './health-text.ts';
import { addressOf } from './place.ts';
import { short } from './text.ts';

/** What the strip shows. */
export interface Health extends Values {
  /** Number of services that are ready. */
  ready: number;
}

/** The greatest current value of a metric; undefined when it is unknown. */
const latest = ({ series }: Health, metric: string): number | undefined => {
  const known = (series.get(metric) ?? []).flatMap(({ values }) => values.at(-1) ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** The ledger is verified once a day, so a wallet that has just started may not have done it. */
export const notYet = 'not yet';

/** A value of the strip. */
export interface Item {
  name: string;
  /** The view that shows more. */
  href: string;
  alerts: readonly string[];
  text: (health: Health) => string | undefined;
}

const count = (metric: string) => (health: Health) => {
  const value = latest(health, metric);
  return value === undefined ? undefined : short(value);
};

const age = (metric: string) => (health: Health) => {
  const value = latest(health, metric);
  if (value === undefined) return undefined;
  return value === 0 ? 'none' : duration(value);
};

/** In the order in which they are shown. */
export const items: readonly Item[] = [
  {
    name: 'Services',
    href: addressOf('traffic'),
    alerts: ['ServiceDown', 'DatabaseUnavailable', 'ResponsesSlow'],
    text: ({ ready }) => `${ready} of ${SERVICES.length} ready`,
  },
  {
    name: 'Gateway',
    href: addressOf('traffic'),
    alerts: [],
    text: ({ gatewayMs }) => (gatewayMs === undefined ? 'unreachable' : `${Math.ceil(gatewayMs)} ms`),
  },
  {
    name: 'Errors',
    href: addressOf('traffic'),
    alerts: ['ErrorRateHigh'],
    text: (health) => {
      const share = latest(health, 'errors');
      return share === undefined ? undefined : `${short(100 * share)} %`;
    },
  },
  {
    name: 'Failed events',
    href: addressOf('webhooks', { store: '-', status: 'failed' }),
    alerts: ['EventsFailed'],
    text: count('webhooks_failed'),
  },
  {
    name: 'Refused events',
    href: addressOf('webhooks', { store: '-', status: 'refused' }),
    alerts: ['EventsRefused'],
    text: count('webhooks_refused'),
  },
  {
    name: 'Oldest pending',
    href: addressOf('webhooks', { store: '-', status: 'pending' }),
    alerts: ['OldestEventWaits'],
    text: age('webhooks_oldest_pending_seconds'),
  },
  {
    name: 'Spool',
    href: guideAddress('docs/store-webhooks.md#during-an-outage'),
    alerts: ['SpoolHoldsEvents', 'SpoolNearlyFull', 'SpoolDamaged'],
    text: (health) => {
      const value = latest(health, 'webhooks_spool_bytes');
      return value === undefined ? undefined : bytes(value);
    },
  },
  {
    name: 'Mail queue',
    href: guideAddress('docs/store-webhooks.md#notifications'),
    alerts: ['MailsWait'],
    text: count('webhooks_mails_pending'),
  },
  {
    name: 'Stuck rounds',
    href: addressOf('rounds'),
    alerts: ['RoundsStuck'],
    text: count('wallet_stuck_rounds'),
  },
  {
    name: 'Ledger verified',
    href: addressOf('ledger'),
    alerts: ['LedgerInconsistent'],
    text: (health) => {
      const seconds = latest(health, 'wallet_proof_age_seconds');
      if (seconds !== undefined) return `${duration(seconds)} ago`;
      return health.series.has('wallet_proof_age_seconds') ? notYet : undefined;
    },
  },
];
