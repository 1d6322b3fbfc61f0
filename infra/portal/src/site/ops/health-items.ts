import { isReady } from '../readiness.ts';
import { errorShare, type Health, type ProcessSummary, type Readiness } from './health-data.ts';
import { bytes, duration, guideAddress, short } from './text.ts';
import { addressOf } from './place.ts';

/** Shown before the first proof: the ledger is verified once a day, so a new wallet may not have a proof yet. */
export const notYet = 'not yet';

/** A value of the health strip. */
export interface Item {
  name: string;
  /** Address of the view with details. */
  href: string;
  /** Undefined if no service reports the value. */
  text: (health: Health) => string | undefined;
  /** The alerts for this value. The first one has the instruction for the services that `faulty` returns. */
  alerts: readonly string[];
  /** The services that report a problem. */
  faulty?: (health: Health) => string[];
}

/** The maximum of a gauge over all processes; undefined if no process has it. */
const maximum = ({ summaries }: Health, gauge: string): number | undefined => {
  const gaugeValues = [...summaries.values()].flat().flatMap(({ values }) => values[gauge] ?? []);
  return gaugeValues.length === 0 ? undefined : Math.max(...gaugeValues);
};

/** The services in which the gauge of a process has a wrong value. */
const servicesWith = (
  { summaries }: Health,
  gauge: string,
  isWrong: (value: number) => boolean,
): string[] => {
  const hasFault = ({ values }: ProcessSummary): boolean => {
    const value = values[gauge];
    return typeof value === 'number' && isWrong(value);
  };
  return [...summaries.keys()].filter((service) => summaries.get(service)?.some(hasFault));
};

/** The services in which the gauge of a process is above 0. */
const servicesAboveZero = (gauge: string) => (health: Health) =>
  servicesWith(health, gauge, (value) => value > 0);

const gaugeText = (gauge: string) => (health: Health) => {
  const value = maximum(health, gauge);
  return value === undefined ? undefined : short(value);
};

/** Number of services that reach their database or Redis, without those that do not use it. */
const dependency = (name: string, check: 'database' | 'redis', alert: string): Item => {
  const checksOf = ({ summaries }: Health) => {
    const checks: { service: string; isOk: boolean }[] = [];
    for (const [service, processes] of summaries) {
      const states = processes.map(({ health }) => health.checks[check]).filter((state) => state !== 'off');
      if (states.length > 0) checks.push({ service, isOk: states.every((state) => state === 'ok') });
    }
    return checks;
  };
  return {
    name,
    href: guideAddress('docs/deploy.md#troubleshooting'),
    text: (health) => {
      const checks = checksOf(health);
      if (checks.length === 0) return undefined;
      return `${checks.filter(({ isOk }) => isOk).length} of ${checks.length} reach it`;
    },
    alerts: [alert],
    faulty: (health) =>
      checksOf(health)
        .filter(({ isOk }) => !isOk)
        .map(({ service }) => service),
  };
};

/** A number that should be 0. */
const zeroExpected = (name: string, gauge: string, href: string, alert: string): Item => ({
  name,
  href,
  text: gaugeText(gauge),
  alerts: [alert],
  faulty: servicesAboveZero(gauge),
});

const eventsWith = (status: string): string => addressOf('webhooks', { store: '-', status });

/** Number of services that accept requests. */
export const readinessText = (readiness: readonly Readiness[]): string =>
  `${readiness.filter(({ state }) => isReady(state)).length} of ${readiness.length || SERVICES.length} ready`;

/** The items in the order in which they are shown. */
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
  zeroExpected('Failed events', 'webhooks_failed', eventsWith('failed'), 'EventsFailed'),
  zeroExpected('Refused events', 'webhooks_refused', eventsWith('refused'), 'EventsRefused'),
  {
    name: 'Oldest pending',
    href: eventsWith('pending'),
    alerts: ['OldestEventWaits', 'EventsWait'],
    text: (health) => {
      const seconds = maximum(health, 'webhooks_oldest_pending_seconds');
      if (seconds === undefined) return undefined;
      return seconds === 0 ? 'none' : duration(seconds);
    },
  },
  {
    name: 'Spool',
    href: guideAddress('docs/store-webhooks.md#during-an-outage'),
    text: (health) => {
      const value = maximum(health, 'webhooks_spool_bytes');
      return value === undefined ? undefined : bytes(value);
    },
    alerts: ['SpoolHoldsEvents', 'SpoolNearlyFull', 'SpoolDamaged'],
    faulty: servicesAboveZero('webhooks_spool_bytes'),
  },
  {
    name: 'Mail queue',
    href: guideAddress('docs/store-webhooks.md#notifications'),
    alerts: ['MailsWait'],
    text: gaugeText('webhooks_mails_pending'),
  },
  zeroExpected('Stuck rounds', 'wallet_stuck_rounds', addressOf('rounds'), 'RoundsStuck'),
  {
    name: 'Ledger verified',
    href: addressOf('ledger'),
    text: (health) => {
      const seconds = maximum(health, 'wallet_proof_age_seconds');
      if (seconds !== undefined) return `${duration(seconds)} ago`;
      const isWallet = [...health.summaries.values()]
        .flat()
        .some(({ values }) => 'wallet_proof_age_seconds' in values);
      return isWallet ? notYet : undefined;
    },
    alerts: ['LedgerInconsistent', 'LedgerNotProved', 'SealedEntriesNotChecked'],
    faulty: (health) => servicesWith(health, 'wallet_proof_ok', (value) => value === 0),
  },
];
