import { element } from '../element.ts';
import { countReady, createHealthReader, type Health } from './health-data.ts';
import { findingsOf, groupFindings, type Finding, type FindingGroup } from './health-rules.ts';
import { bytes, duration, guideAddress, summaryOf } from './health-text.ts';
import { replaceContent, state } from './parts.ts';
import { addressOf } from './place.ts';
import type { Session } from './session.ts';
import { errorText, short } from './text.ts';
import { when } from './time.ts';

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

/** The greatest current value of a metric; undefined when it is unknown. */
const latest = ({ series }: Health, metric: string): number | undefined => {
  const known = (series.get(metric) ?? []).flatMap(({ values }) => values.at(-1) ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** The ledger is verified once a day, so a wallet that has just started may not have done it. */
const notYet = 'not yet';

interface Item {
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

const items: readonly Item[] = [
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

/** The severities of the rules in words; a `ticket` is for the next working hours. */
const urgency = { page: 'urgent', ticket: 'not urgent' } as const;

const lookOf = ({ rule, isFiring }: Finding): 'bad' | 'warn' =>
  isFiring && rule.severity === 'page' ? 'bad' : 'warn';

const itemLook = (item: Item, health: Health, findings: readonly Finding[]) => {
  if (item.name === 'Gateway') return health.gatewayMs === undefined ? 'bad' : 'good';
  const text = item.text(health);
  if (text === undefined || text === notYet) return 'plain';
  const own = findings.filter(({ rule }) => item.alerts.includes(rule.alert)).map(lookOf);
  if (own.includes('bad')) return 'bad';
  const isMissingService = item.name === 'Services' && health.ready < SERVICES.length;
  return own.length > 0 || isMissingService ? 'warn' : 'good';
};

const sinceText = ({ since, isOlder, isFiring, rule }: Finding): string => {
  const from = `since ${when(new Date(since).toISOString())}${isOlder ? ' or earlier' : ''}`;
  return isFiring ? from : `${from}; alerts after ${duration(rule.forSeconds)}`;
};

const servicesText = (findings: readonly Finding[]): string => {
  const names = findings.map(({ series }) => series.service).join(', ');
  return findings.length === SERVICES.length ? `all ${findings.length} services` : names;
};

/** Such as `ErrorRateHigh (all 6 services), MailsWait (store-webhooks)`. */
const consequencesText = (consequences: readonly Finding[]): string =>
  [...Map.groupBy(consequences, ({ rule }) => rule.alert)]
    .map(([alert, same]) => `${alert} (${servicesText(same)})`)
    .join(', ');

const alertEntry = ({ findings, consequences }: FindingGroup): HTMLElement => {
  const [finding, ...others] = findings;
  const { rule, series } = finding;
  const key = `${rule.alert} ${series.labels}`;
  const more = others.length === 1 ? ' (and 1 more service)' : ` (and ${others.length} more services)`;
  const guide = element('a', { href: guideAddress(rule.guide), 'data-key': key }, 'Guide');
  const item = items.find(({ alerts, href }) => alerts.includes(rule.alert) && href.startsWith('#'));
  const list = item && element('a', { href: item.href, 'data-key': `${key} list` }, `Show “${item.name}”`);
  return element(
    'li',
    {},
    element(
      'p',
      { class: 'alert-head' },
      state(lookOf(finding), finding.isFiring ? urgency[rule.severity] : 'soon'),
      element('strong', {}, summaryOf(finding) + (others.length > 0 ? more : '')),
    ),
    element('p', {}, `${rule.action} `, ...(list ? [list, ' '] : []), guide),
    element('p', { class: 'soft' }, `${rule.alert} · ${servicesText(findings)} · ${sinceText(finding)}`),
    ...(consequences.length > 0
      ? [element('p', { class: 'soft' }, `Follows from it: ${consequencesText(consequences)}`)]
      : []),
  );
};

const headline = ({ error }: Health, groups: readonly FindingGroup[]): string => {
  if (error !== undefined) return errorText(error);
  if (groups.length === 0) return 'No alerts';
  const findings = groups.map((group) => group.findings[0]);
  const names = (list: readonly Finding[]) => [...new Set(list.map(({ rule }) => rule.alert))].join(', ');
  const [firing = [], soon = []] = [true, false].map((wanted) =>
    findings.filter(({ isFiring }) => isFiring === wanted),
  );
  return [
    firing.length > 0 ? `${firing.length} ${firing.length === 1 ? 'alert' : 'alerts'}: ${names(firing)}` : '',
    soon.length > 0 ? `soon: ${names(soon)}` : '',
  ]
    .filter((text) => text !== '')
    .join('; ');
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
  let shown: Health | undefined;
  let readAt = 0;
  const draw = (health: Health): void => {
    shown = health;
    const findings = findingsOf(ALERT_RULES, health.series);
    for (const { item, value, link } of chips) {
      value.textContent = item.text(health) ?? '–';
      link.setAttribute('data-state', itemLook(item, health, findings));
    }
    const groups = groupFindings(findings);
    summary.textContent = headline(health, groups);
    alerts.setAttribute('data-state', findings.map(lookOf).toSorted()[0] ?? 'good');
    alerts.toggleAttribute('data-empty', findings.length === 0);
    replaceContent(list, ...groups.map(alertEntry));
  };
  /** Reads everything when it is time or when a service became ready or not ready, which is shown at once. */
  const refresh = async (): Promise<void> => {
    const ready = await countReady();
    const hasChanged = ready !== shown?.ready;
    if (shown !== undefined && hasChanged) draw({ ...shown, ready });
    if (!hasChanged && performance.now() - readAt < refreshMs) return;
    draw(await read());
    readAt = performance.now();
  };
  const keepRefreshing = async (): Promise<void> => {
    if (!document.hidden) await refresh();
    if (strip.isConnected) setTimeout(() => void keepRefreshing(), watchMs);
  };
  requestAnimationFrame(() => void keepRefreshing());
  return strip;
};
