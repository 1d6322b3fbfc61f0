import { element } from '../element.ts';
import { createHealthReader, readReadiness, type Health, type Readiness } from './health-data.ts';
import { items, notYet, type Item } from './health-items.ts';
import { guideAddress } from './health-text.ts';
import { replaceContent, state } from './parts.ts';
import type { Session } from './session.ts';
import { errorText } from './text.ts';
import { when } from './time.ts';

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

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

/** What the services say themselves; the texts are those of the alerts. */
const ownEntries = (health: Health): Entry[] =>
  items.flatMap((item) => {
    const services = item.faulty?.(health) ?? [];
    const [alert = ''] = item.alerts;
    const text = ALERT_TEXTS[alert];
    if (services.length === 0 || text === undefined) return [];
    const { severity, action, guide } = text;
    const summary = `${item.name}: ${item.text(health) ?? 'unknown'}`;
    return [{ alert, services, item, summary, action, guide, isUrgent: severity === 'page' }];
  });

/** What Prometheus says, one entry for each alert. */
const firingEntries = ({ alerts }: Health): Entry[] =>
  [...Map.groupBy(alerts ?? [], ({ alert }) => alert).values()].flatMap((same) => {
    const [first] = same.toSorted((a, b) => a.since.localeCompare(b.since));
    if (first === undefined) return [];
    const { severity, summary, ...texts } = first;
    return [
      {
        ...texts,
        isUrgent: severity === 'page',
        summary: same.length > 1 ? `${summary} (and ${same.length - 1} more)` : summary,
        services: [...new Set(same.map(({ service }) => service))].filter((service) => service !== ''),
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

const lookOf = ({ isUrgent }: Entry): 'bad' | 'warn' => (isUrgent ? 'bad' : 'warn');

const itemLook = (item: Item, health: Health, entries: readonly Entry[]) => {
  const text = item.text(health);
  if (text === undefined || text === notYet) return 'plain';
  const entry = entries.find((one) => one.item === item);
  if (entry !== undefined) return lookOf(entry);
  if (item.name === 'Gateway') return health.gatewayMs === undefined ? 'bad' : 'good';
  if (item.name === 'Services' && health.readiness.some(({ isReady }) => !isReady)) return 'warn';
  // Of the others only Prometheus says whether the value is good.
  return item.faulty === undefined ? 'plain' : 'good';
};

const servicesText = (services: readonly string[]): string =>
  services.length === SERVICES.length ? `all ${services.length} services` : services.join(', ');

const alertEntry = (entry: Entry): HTMLElement => {
  const { alert, isUrgent, summary, action, guide, services, since, item } = entry;
  const link = element('a', { href: guideAddress(guide), 'data-key': alert }, 'Guide');
  const list =
    item?.href.startsWith('#') &&
    element('a', { href: item.href, 'data-key': `${alert} list` }, `Show “${item.name}”`);
  const details = [alert, servicesText(services), since === undefined ? '' : `since ${when(since)}`];
  return element(
    'li',
    {},
    element(
      'p',
      { class: 'alert-head' },
      state(lookOf(entry), isUrgent ? 'urgent' : 'not urgent'),
      element('strong', {}, summary),
    ),
    element('p', {}, `${action} `, ...(list ? [list, ' '] : []), link),
    element('p', { class: 'soft' }, details.filter((text) => text !== '').join(' · ')),
  );
};

const headline = ({ error, alerts }: Health, entries: readonly Entry[]): string => {
  if (error !== undefined) return errorText(error);
  const names = entries.map(({ alert }) => alert).join(', ');
  const found =
    entries.length === 0
      ? 'No alerts'
      : `${entries.length} ${entries.length === 1 ? 'alert' : 'alerts'}: ${names}`;
  return alerts === null ? `${found}; Prometheus does not answer` : found;
};

/** The state of the platform, and the alerts with what to do. It refreshes itself while it is in the page. */
export const healthStrip = (session: Session): HTMLElement => {
  const read = createHealthReader(session);
  const chips = items.map((item) => {
    const value = element('strong', {}, '…');
    const link = element(
      'a',
      { href: item.href, 'data-state': 'plain' },
      element('span', {}, item.name),
      value,
    );
    return { item, value, link };
  });
  const summary = element('summary', {}, 'Checking …');
  const list = element('ul', { class: 'alerts' });
  const alerts = element('details', {}, summary, list);
  const strip = element(
    'section',
    { class: 'strip', 'aria-label': 'Health' },
    element('ul', { class: 'chips' }, ...chips.map(({ link }) => element('li', {}, link))),
    alerts,
  );
  let readiness: Readiness[] = [];
  let values: Omit<Health, 'readiness'> | undefined;
  let readAt = -refreshMs;
  const draw = (): void => {
    if (values === undefined) return;
    const health = { ...values, readiness };
    const entries = entriesOf(health);
    for (const { item, value, link } of chips) {
      value.textContent = item.text(health) ?? '–';
      link.setAttribute('data-state', itemLook(item, health, entries));
    }
    summary.textContent = headline(health, entries);
    alerts.setAttribute('data-state', entries.map(lookOf).toSorted()[0] ?? 'good');
    alerts.toggleAttribute('data-empty', entries.length === 0);
    replaceContent(list, ...entries.map(alertEntry));
  };
  let isReading = false;
  /** In an outage this takes longer than the pause between two looks at the readiness. */
  const readValues = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    values = await read();
    isReading = false;
    readAt = performance.now();
    draw();
  };
  /** Shows at once that a service became ready or not ready, and reads everything then or when it is time. */
  const refresh = async (): Promise<void> => {
    const now = await readReadiness();
    const hasChanged = JSON.stringify(now) !== JSON.stringify(readiness);
    readiness = now;
    if (hasChanged) draw();
    if (hasChanged || performance.now() - readAt >= refreshMs) void readValues();
  };
  const keepRefreshing = async (): Promise<void> => {
    if (!document.hidden) await refresh();
    if (strip.isConnected) setTimeout(() => void keepRefreshing(), watchMs);
  };
  requestAnimationFrame(() => void keepRefreshing());
  return strip;
};
