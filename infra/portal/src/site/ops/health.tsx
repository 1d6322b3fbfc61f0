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
import { stateBadge, type Color } from './parts.tsx';
import { useSession } from './session.ts';
import { counted, errorText, guideAddress } from './text.ts';
import { when } from './time.ts';

/** A problem and the instruction for the person on duty. */
interface Entry {
  /** Name of the alert. */
  alert: string;
  isUrgent: boolean;
  summary: string;
  action: string;
  guide: string;
  services: string[];
  /** Start time (ISO 8601), if the alert comes from Prometheus. */
  since?: string;
  /** The value of the strip to which the alert belongs, if any. */
  item?: Item | undefined;
}

/** The text of an alert for several services, if it has one: "All 6 services have lost their database". */
const pluralText = (alert: string, services: readonly string[]): string | undefined => {
  const plural = ALERT_TEXTS[alert]?.plural;
  if (plural === undefined || services.length < 2) return undefined;
  const subject = servicesText(services);
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${plural}`;
};

/** Problems that the services report themselves, with the texts of the alerts. */
const serviceEntries = (health: Health): Entry[] =>
  items.flatMap((item) => {
    const services = item.faulty?.(health) ?? [];
    const [alert = ''] = item.alerts;
    const text = ALERT_TEXTS[alert];
    if (services.length === 0 || text === undefined) return [];
    const { severity, action, guide } = text;
    const summary = pluralText(alert, services) ?? `${item.name}: ${item.text(health) ?? 'unknown'}`;
    return [{ alert, services, item, summary, action, guide, isUrgent: severity === 'page' }];
  });

/** Alerts of Prometheus; instances of the same alert become one entry. */
const firingEntries = ({ alerts }: Health): Entry[] =>
  [...Map.groupBy(alerts ?? [], ({ alert }) => alert).values()].flatMap((instances) => {
    const [first] = instances.toSorted((a, b) => a.since.localeCompare(b.since));
    if (first === undefined) return [];
    const { severity, summary, ...texts } = first;
    const services = [...new Set(instances.map(({ service }) => service))].filter(
      (service) => service !== '',
    );
    const shortSummary = instances.length > 1 ? `${summary} (and ${instances.length - 1} more)` : summary;
    return [
      {
        ...texts,
        isUrgent: severity === 'page',
        summary: pluralText(first.alert, services) ?? shortSummary,
        services,
        item: items.find(({ alerts: itemAlerts }) => itemAlerts.includes(first.alert)),
      },
    ];
  });

/** All problems, urgent ones first. An alert of Prometheus replaces the same problem reported by services. */
const entriesOf = (health: Health): Entry[] => {
  const firing = firingEntries(health);
  const reported = serviceEntries(health).filter(
    ({ alert }) => !firing.some((entry) => entry.alert === alert),
  );
  return [...firing, ...reported].toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent));
};

const entryColor = ({ isUrgent }: Entry): 'bad' | 'warn' => (isUrgent ? 'bad' : 'warn');

/** The colour of the readiness: bad only if no service accepts requests. */
const readinessColor = (readiness: readonly Readiness[]): Color => {
  if (readiness.every(({ state }) => isReady(state))) return 'good';
  return readiness.every(({ state }) => state.color === 'bad') ? 'bad' : 'warn';
};

/** The colour of a value in the strip. */
const itemColor = (item: Item, health: Health, entries: readonly Entry[]): Color => {
  const text = item.text(health);
  if (text === undefined || text === notYet) return 'plain';
  const entry = entries.find((candidate) => candidate.item === item);
  if (entry !== undefined) return entryColor(entry);
  if (item.name === 'Gateway') return health.gatewayMs === undefined ? 'bad' : 'good';
  if (item.name === 'Services') return readinessColor(health.readiness);
  // For the other items only Prometheus knows whether the value is good.
  return item.faulty === undefined ? 'plain' : 'good';
};

/** The names of services, or "all 6 services". */
const servicesText = (services: readonly string[]): string =>
  services.length === SERVICES.length ? `all ${services.length} services` : services.join(', ');

/** All problems in one line. */
const alertsText = ({ error, alerts }: Values, entries: readonly Entry[]): string => {
  if (error !== undefined) return errorText(error);
  const names = entries.map(({ alert }) => alert).join(', ');
  const alertNames = entries.length === 0 ? 'No alerts' : `${counted(entries.length, 'alert')}: ${names}`;
  return alerts === null ? `${alertNames}; Prometheus does not respond` : alertNames;
};

/** The state of the platform in one line, and its colour. `values` is undefined before the first read. */
const headline = (
  readiness: readonly Readiness[],
  values: Values | undefined,
  entries: readonly Entry[],
): { text: string; color: Color } => {
  if (readiness.length === 0) return { text: 'Checking …', color: 'plain' };
  const text = values === undefined ? 'Checking …' : alertsText(values, entries);
  const colors = [readinessColor(readiness), ...entries.map(entryColor)];
  const color = (['bad', 'warn'] as const).find((worst) => colors.includes(worst)) ?? 'good';
  return { text: `Services: ${readinessText(readiness)} · ${text}`, color };
};

const refreshMs = 15_000;

/** Readiness is read more often, because it is cheap and shows an outage first. */
const readinessMs = 3000;

const AlertEntry = ({ entry }: { entry: Entry }) => {
  const { alert, isUrgent, summary, action, guide, services, since, item } = entry;
  const details = [alert, servicesText(services), since === undefined ? '' : `since ${when(since)}`];
  return (
    <li>
      <p class="alert-head">
        {stateBadge(entryColor(entry), isUrgent ? 'urgent' : 'not urgent')}
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

/** Polls the data of gateway, services and Prometheus; undefined before the first read. */
const useValues = (): Values | undefined => {
  const session = useSession();
  const values = useSignal<Values>();
  const read = useMemo(() => createHealthReader(session), [session]);
  const reading = useRef({ isRunning: false, endedAt: -refreshMs });
  /** Only one runs at a time: in an outage it takes longer than the pause between two reads of the readiness. */
  const readValues = async (): Promise<void> => {
    if (reading.current.isRunning) return;
    reading.current.isRunning = true;
    values.value = await read();
    reading.current = { isRunning: false, endedAt: performance.now() };
  };
  // Reads the other data when the readiness has changed, and every `refreshMs`.
  usePolling(async () => {
    const newReadiness = await readReadiness();
    const hasChanged = JSON.stringify(newReadiness) !== JSON.stringify(readiness.value);
    if (hasChanged) readiness.value = newReadiness;
    if (hasChanged || performance.now() - reading.current.endedAt >= refreshMs) void readValues();
  }, readinessMs);
  // Reset at sign-out, because it would be outdated in the next session.
  useEffect(() => () => void (readiness.value = []), []);
  return values.value;
};

/** The state of the platform in one line. It expands to the values, and the alerts with instructions. */
export const HealthStrip = () => {
  const values = useValues();
  const health = values && { ...values, readiness: readiness.value };
  const entries = health ? entriesOf(health) : [];
  const { text, color } = headline(readiness.value, values, entries);
  return (
    <section class="strip" aria-label="Health">
      <details data-state={color}>
        <summary>{text}</summary>
        <ul class="chips">
          {items.map((item) => (
            <li key={item.name}>
              <a href={item.href} data-state={health ? itemColor(item, health, entries) : 'plain'}>
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
