import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isReady } from '../readiness.ts';
import { usePolling } from './content.tsx';
import {
  createHealthReader,
  readReadiness,
  readiness,
  type Health,
  type Readiness,
  type Values,
} from './health-data.ts';
import { items, notYet, readinessText, type Item } from './health-items.ts';
import { state, type Look } from './parts.tsx';
import { useSession } from './session.ts';
import { counted, errorText, guideAddress } from './text.ts';
import { when } from './time.ts';

/** Something that is wrong, and what to do. */
interface Entry {
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
const entriesOf = (health: Health): Entry[] => {
  const firing = firingEntries(health);
  const own = ownEntries(health).filter(({ alert }) => !firing.some((entry) => entry.alert === alert));
  return [...firing, ...own].toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent));
};

/** The colour of an entry. */
const lookOf = ({ isUrgent }: Entry): 'bad' | 'warn' => (isUrgent ? 'bad' : 'warn');

/** The colour of the readiness; without any service that takes requests it is that of an outage. */
const readinessLook = (readiness: readonly Readiness[]): Look => {
  if (readiness.every(({ state }) => isReady(state))) return 'good';
  return readiness.every(({ state }) => state.look === 'bad') ? 'bad' : 'warn';
};

/** The colour of a value of the line. */
const itemLook = (item: Item, health: Health, entries: readonly Entry[]): Look => {
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
const servicesText = (services: readonly string[]): string =>
  services.length === SERVICES.length ? `all ${services.length} services` : services.join(', ');

/** What is wrong, in one line. */
const alertsText = ({ error, alerts }: Values, entries: readonly Entry[]): string => {
  if (error !== undefined) return errorText(error);
  const names = entries.map(({ alert }) => alert).join(', ');
  const found = entries.length === 0 ? 'No alerts' : `${counted(entries.length, 'alert')}: ${names}`;
  return alerts === null ? `${found}; Prometheus does not answer` : found;
};

/** The state of the platform in one line, and its colour. The values are undefined before they were read once. */
const headline = (
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

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

const AlertEntry = ({ entry }: { entry: Entry }) => {
  const { alert, isUrgent, summary, action, guide, services, since, item } = entry;
  const details = [alert, servicesText(services), since === undefined ? '' : `since ${when(since)}`];
  return (
    <li>
      <p class="alert-head">
        {state(lookOf(entry), isUrgent ? 'urgent' : 'not urgent')}
        <strong>{summary}</strong>
      </p>
      <p>
        {action}{' '}
        {item?.href.startsWith('#') && (
          <>
            <a href={item.href}>Show “{item.name}”</a>{' '}
          </>
        )}
        <a href={guideAddress(guide)}>Guide</a>
      </p>
      <p class="soft">{details.filter((text) => text !== '').join(' · ')}</p>
    </li>
  );
};

/** What gateway, services and Prometheus say, read again and again; undefined before they were read once. */
const useValues = (): Values | undefined => {
  const session = useSession();
  const values = useSignal<Values>();
  const read = useMemo(() => createHealthReader(session), [session]);
  const reading = useRef({ isRunning: false, endedAt: -refreshMs });
  /** In an outage this takes longer than the pause between two looks at the readiness. */
  const readValues = async (): Promise<void> => {
    if (reading.current.isRunning) return;
    reading.current.isRunning = true;
    values.value = await read();
    reading.current = { isRunning: false, endedAt: performance.now() };
  };
  /** Shows at once that a service became ready or not ready, and reads everything then or when it is time. */
  usePolling(async () => {
    const now = await readReadiness();
    const hasChanged = JSON.stringify(now) !== JSON.stringify(readiness.value);
    if (hasChanged) readiness.value = now;
    if (hasChanged || performance.now() - reading.current.endedAt >= refreshMs) void readValues();
  }, watchMs);
  // Of the session before it may be old.
  useEffect(() => () => void (readiness.value = []), []);
  return values.value;
};

/** The state of the platform in one line, which opens: values, and the alerts with what to do. */
export const HealthStrip = () => {
  const values = useValues();
  const health = values && { ...values, readiness: readiness.value };
  const entries = health ? entriesOf(health) : [];
  const { text, look } = headline(readiness.value, values, entries);
  return (
    <section class="strip" aria-label="Health">
      <details data-state={look}>
        <summary>{text}</summary>
        <ul class="chips">
          {items.map((item) => (
            <li key={item.name}>
              <a href={item.href} data-state={health ? itemLook(item, health, entries) : 'plain'}>
                <span>{item.name}</span>
                <strong>{health ? (item.text(health) ?? '–') : '…'}</strong>
              </a>
            </li>
          ))}
        </ul>
        <ul class="alerts">
          {entries.map((entry) => (
            <AlertEntry key={entry.alert} entry={entry} />
          ))}
        </ul>
      </details>
    </section>
  );
};
