import { isReady } from '../readiness.ts';
import type { Health, Readiness, Values } from './health-data.ts';
import { items, notYet, readinessText, type Item } from './health-items.ts';
import type { Look } from './parts.tsx';
import { counted, errorText } from './text.ts';

/** Something that is wrong, and what to do. */
export interface Entry {
  /** Name of the alert. */
  alert: string;
  isUrgent: boolean;
  summary: string;
  action: string;
  guide: string;
  services: string[];
  /** ISO 8601, when Prometheus says it. */
  since?: string;
  /** The value of the strip that it is about, if any. */
  item?: Item | undefined;
}

/** One sentence about several services, if their alert has one: "All 6 services have lost their database". */
const pluralText = (alert: string, services: readonly string[]): string | undefined => {
  const plural = ALERT_TEXTS[alert]?.plural;
  if (plural === undefined || services.length < 2) return undefined;
  const subject = servicesText(services);
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${plural}`;
};

/** What the services say themselves; the texts are those of the alerts. */
const ownEntries = (health: Health): Entry[] =>
  items.flatMap((item) => {
    const services = item.faulty?.(health) ?? [];
    const [alert = ''] = item.alerts;
    const text = ALERT_TEXTS[alert];
    if (services.length === 0 || text === undefined) return [];
    const { severity, action, guide } = text;
    const summary = pluralText(alert, services) ?? `${item.name}: ${item.text(health) ?? 'unknown'}`;
    return [{ alert, services, item, summary, action, guide, isUrgent: severity === 'page' }];
  });

/** What Prometheus says, one entry for each alert. */
const firingEntries = ({ alerts }: Health): Entry[] =>
  [...Map.groupBy(alerts ?? [], ({ alert }) => alert).values()].flatMap((same) => {
    const [first] = same.toSorted((a, b) => a.since.localeCompare(b.since));
    if (first === undefined) return [];
    const { severity, summary, ...texts } = first;
    const services = [...new Set(same.map(({ service }) => service))].filter((service) => service !== '');
    const several = same.length > 1 ? `${summary} (and ${same.length - 1} more)` : summary;
    return [
      {
        ...texts,
        isUrgent: severity === 'page',
        summary: pluralText(first.alert, services) ?? several,
        services,
        item: items.find(({ alerts: about }) => about.includes(first.alert)),
      },
    ];
  });

/** Everything that is wrong, the urgent first. What Prometheus says goes before what services say of the same alert. */
export const entriesOf = (health: Health): Entry[] => {
  const firing = firingEntries(health);
  const own = ownEntries(health).filter(({ alert }) => !firing.some((entry) => entry.alert === alert));
  return [...firing, ...own].toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent));
};

/** The colour of an entry. */
export const lookOf = ({ isUrgent }: Entry): 'bad' | 'warn' => (isUrgent ? 'bad' : 'warn');

/** The colour of the readiness; without any service that takes requests it is that of an outage. */
const readinessLook = (readiness: readonly Readiness[]): Look => {
  if (readiness.every(({ state }) => isReady(state))) return 'good';
  return readiness.every(({ state }) => state.look === 'bad') ? 'bad' : 'warn';
};

/** The colour of a value of the line. */
export const itemLook = (item: Item, health: Health, entries: readonly Entry[]): Look => {
  const text = item.text(health);
  if (text === undefined || text === notYet) return 'plain';
  const entry = entries.find((one) => one.item === item);
  if (entry !== undefined) return lookOf(entry);
  if (item.name === 'Gateway') return health.gatewayMs === undefined ? 'bad' : 'good';
  if (item.name === 'Services') return readinessLook(health.readiness);
  // Of the others only Prometheus says whether the value is good.
  return item.faulty === undefined ? 'plain' : 'good';
};

/** The names of services, or that it is about all of them. */
export const servicesText = (services: readonly string[]): string =>
  services.length === SERVICES.length ? `all ${services.length} services` : services.join(', ');

/** What is wrong, in one line. */
const alertsText = ({ error, alerts }: Values, entries: readonly Entry[]): string => {
  if (error !== undefined) return errorText(error);
  const names = entries.map(({ alert }) => alert).join(', ');
  const found = entries.length === 0 ? 'No alerts' : `${counted(entries.length, 'alert')}: ${names}`;
  return alerts === null ? `${found}; Prometheus does not answer` : found;
};

/** The state of the platform in one line, and its colour. The values are undefined before they were read once. */
export const headline = (
  readiness: readonly Readiness[],
  values: Values | undefined,
  entries: readonly Entry[],
): { text: string; look: Look } => {
  if (readiness.length === 0) return { text: 'Checking …', look: 'plain' };
  const text = values === undefined ? 'Checking …' : alertsText(values, entries);
  const looks = [readinessLook(readiness), ...entries.map(lookOf)];
  const look = (['bad', 'warn'] as const).find((one) => looks.includes(one)) ?? 'good';
  return { text: `Services: ${readinessText(readiness)} · ${text}`, look };
};
