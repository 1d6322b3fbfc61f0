import { isReady } from '../readiness.ts';
import { errorShare, type Health, type Readiness } from './health-data.ts';
import { bytes, duration, guideAddress, short } from './text.ts';
import { addressOf } from './place.ts';

/** The ledger is verified once a day, so a wallet that has just started may not have done it. */
export const notYet = 'not yet';

/** A value of the strip. */
export interface Item {
  name: string;
  /** The view that shows more. */
  href: string;
  /** Undefined when no service says it. */
  text: (health: Health) => string | undefined;
  /** The alerts that are about it. What to do about `faulty` stands at the first one. */
  alerts: readonly string[];
  /** The services that say that something is wrong with it. */
  faulty?: (health: Health) => string[];
}

/** The greatest value of a gauge; undefined when no process has one. */
const greatest = ({ statements }: Health, gauge: string): number | undefined => {
  const known = [...statements.values()].flat().flatMap(({ values }) => values[gauge] ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** The services of which a process has such a value. */
const servicesWith = ({ statements }: Health, gauge: string, isWrong: (value: number) => boolean): string[] =>
  [...statements].flatMap(([service, processes]) =>
    processes.some(({ values: { [gauge]: value } }) => typeof value === 'number' && isWrong(value))
      ? [service]
      : [],
  );

/** The services of which a process has more than none. */
const servicesWithSome = (gauge: string) => (health: Health) =>
  servicesWith(health, gauge, (value) => value > 0);

const count = (gauge: string) => (health: Health) => {
  const value = greatest(health, gauge);
  return value === undefined ? undefined : short(value);
};

/** How many services reach their database or Redis. Those that have none are left out. */
const dependency = (name: string, check: 'database' | 'redis', alert: string): Item => {
  const states = ({ statements }: Health): [string, boolean][] =>
    [...statements].flatMap(([service, processes]) => {
      const known = processes.map(({ health }) => health.checks[check]).filter((state) => state !== 'off');
      return known.length === 0 ? [] : [[service, known.every((state) => state === 'ok')]];
    });
  return {
    name,
    href: guideAddress('docs/deploy.md#troubleshooting'),
    text: (health) => {
      const all = states(health);
      return all.length === 0
        ? undefined
        : `${all.filter(([, isOk]) => isOk).length} of ${all.length} reach it`;
    },
    alerts: [alert],
    faulty: (health) => states(health).flatMap(([service, isOk]) => (isOk ? [] : [service])),
  };
};

/** A number that should be 0. */
const counted = (name: string, gauge: string, href: string, alert: string): Item => ({
  name,
  href,
  text: count(gauge),
  alerts: [alert],
  faulty: servicesWithSome(gauge),
});

const eventsWith = (status: string): string => addressOf('webhooks', { store: '-', status });

/** How many services take requests. */
export const readinessText = (readiness: readonly Readiness[]): string =>
  `${readiness.filter(({ state }) => isReady(state)).length} of ${readiness.length || SERVICES.length} ready`;

/** In the order in which they are shown. */
export const items: readonly Item[] = [
  {
    name: 'Services',
    href: addressOf('traffic'),
    text: ({ readiness }) => readinessText(readiness),
    alerts: ['ServiceDown', 'ServiceGone', 'ResponsesSlow'],
    faulty: ({ readiness }) =>
      readiness.flatMap(({ service, state }) => (state.isUp === false ? [service] : [])),
  },
  {
    name: 'Gateway',
    href: addressOf('traffic'),
    alerts: ['GatewayErrors', 'GatewayRetries'],
    text: ({ gatewayMs }) => (gatewayMs === undefined ? 'unreachable' : `${Math.ceil(gatewayMs)} ms`),
  },
  dependency('Database', 'database', 'DatabaseUnavailable'),
  dependency('Redis', 'redis', 'RedisUnavailable'),
  {
    name: 'Errors',
    href: addressOf('traffic'),
    alerts: ['ErrorRateHigh'],
    text: (health) => {
      const share = errorShare(health);
      return share === undefined ? undefined : `${short(100 * share)} %`;
    },
  },
  counted('Failed events', 'webhooks_failed', eventsWith('failed'), 'EventsFailed'),
  counted('Refused events', 'webhooks_refused', eventsWith('refused'), 'EventsRefused'),
  {
    name: 'Oldest pending',
    href: eventsWith('pending'),
    alerts: ['OldestEventWaits', 'EventsWait'],
    text: (health) => {
      const seconds = greatest(health, 'webhooks_oldest_pending_seconds');
      if (seconds === undefined) return undefined;
      return seconds === 0 ? 'none' : duration(seconds);
    },
  },
  {
    name: 'Spool',
    href: guideAddress('docs/store-webhooks.md#during-an-outage'),
    text: (health) => {
      const value = greatest(health, 'webhooks_spool_bytes');
      return value === undefined ? undefined : bytes(value);
    },
    alerts: ['SpoolHoldsEvents', 'SpoolNearlyFull', 'SpoolDamaged'],
    faulty: servicesWithSome('webhooks_spool_bytes'),
  },
  {
    name: 'Mail queue',
    href: guideAddress('docs/store-webhooks.md#notifications'),
    alerts: ['MailsWait'],
    text: count('webhooks_mails_pending'),
  },
  counted('Stuck rounds', 'wallet_stuck_rounds', addressOf('rounds'), 'RoundsStuck'),
  {
    name: 'Ledger verified',
    href: addressOf('ledger'),
    text: (health) => {
      const seconds = greatest(health, 'wallet_proof_age_seconds');
      if (seconds !== undefined) return `${duration(seconds)} ago`;
      const isWallet = [...health.statements.values()]
        .flat()
        .some(({ values }) => 'wallet_proof_age_seconds' in values);
      return isWallet ? notYet : undefined;
    },
    alerts: ['LedgerInconsistent', 'LedgerNotProved', 'SealedEntriesNotChecked'],
    faulty: (health) => servicesWith(health, 'wallet_proof_ok', (value) => value === 0),
  },
];
