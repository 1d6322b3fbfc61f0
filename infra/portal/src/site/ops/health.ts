import { element } from '../element.ts';
import { countReady, createHealthReader, type Health as Values } from './health-data.ts';
import { items, notYet, type Health, type Item } from './health-items.ts';
import { findingsOf, groupFindings, type Finding, type FindingGroup } from './health-rules.ts';
import { duration, guideAddress, summaryOf } from './health-text.ts';
import { replaceContent, state } from './parts.ts';
import type { Session } from './session.ts';
import { errorText } from './text.ts';
import { when } from './time.ts';

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

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
  const more =
    findings.length === SERVICES.length ? ' (and all other services)' : ` (and ${others.length} more)`;
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
  let ready = 0;
  let values: Values | undefined;
  let readAt = -refreshMs;
  const draw = (): void => {
    if (values === undefined) return;
    const health = { ...values, ready };
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
    const now = await countReady();
    const hasChanged = now !== ready;
    ready = now;
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
