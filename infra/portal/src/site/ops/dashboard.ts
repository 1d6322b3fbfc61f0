import { button, element } from '../element.ts';
import { eventsView } from './events.ts';
import { evidenceView } from './evidence.ts';
import { findView, searchForm } from './find.ts';
import { healthStrip } from './health.ts';
import { ledgerView } from './ledger.ts';
import { limitsView } from './limits.ts';
import { moneyView } from './money.ts';
import { removeDialogs, replaceContent } from './parts.ts';
import { addressOf, place } from './place.ts';
import { playersView } from './players.ts';
import { reconciliationView } from './reconciliation.ts';
import { roundsView } from './rounds.ts';
import type { Session } from './session.ts';
import { otherZone, switchZone, when, zoneName } from './time.ts';
import { trafficView } from './traffic.ts';

const views: Readonly<Record<string, { name: string; draw: (session: Session) => HTMLElement }>> = {
  find: { name: 'Find', draw: findView },
  traffic: { name: 'Traffic', draw: trafficView },
  webhooks: { name: 'Webhooks', draw: eventsView },
  rounds: { name: 'Rounds', draw: roundsView },
  players: { name: 'Players', draw: playersView },
  limits: { name: 'Limits', draw: limitsView },
  money: { name: 'Money', draw: moneyView },
  reconciliation: { name: 'Reconciliation', draw: reconciliationView },
  ledger: { name: 'Ledger', draw: ledgerView },
  evidence: { name: 'Evidence', draw: evidenceView },
};

/** The view that the address names, else the first one. */
const chosen = (): string => {
  const { view } = place();
  return Object.hasOwn(views, view) ? view : 'traffic';
};

/** Who is signed in until when, and the time zone, with a button that calls `changed` after a change of it. */
const signedInAs = ({ subject, expiresAt }: Session, changed: () => void): HTMLElement => {
  const text = element('span', {});
  const zone = button('', 'link', () => {
    switchZone();
    write();
    changed();
  });
  const write = (): void => {
    const until = expiresAt ? ` until ${when(expiresAt.toISOString())}` : '';
    text.textContent = `Signed in as ${subject}${until}. Times in ${zoneName()}. `;
    zone.textContent = otherZone() ?? '';
  };
  write();
  zone.hidden = otherZone() === undefined;
  return element('p', { class: 'soft' }, text, zone);
};

/** The views after the sign-in; `leave` is called by the sign-out button. */
export const createDashboard = (
  session: Session,
  leave: () => void,
): { content: Node[]; end: () => void } => {
  const links = Object.entries(views).map(([key, { name }]) => element('a', { href: addressOf(key) }, name));
  const view = element('div', { class: 'view' });
  const finder = searchForm();
  const draw = (): void => {
    const key = chosen();
    for (const link of links) {
      if (link.hash === addressOf(key)) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    finder.update();
    document.title = `${views[key]?.name} · Operations · Platform`;
    replaceContent(view, ...(views[key] ? [views[key].draw(session)] : []));
  };
  /** A link in a view or in a dialog leads to the beginning of the next view. */
  const follow = (): void => {
    const isInView = document.activeElement?.closest('.view, dialog') !== null;
    removeDialogs();
    draw();
    const section = view.firstElementChild;
    if (!isInView || !(section instanceof HTMLElement)) return;
    // Its name is read out.
    section.tabIndex = -1;
    section.focus({ preventScroll: true });
    view.scrollIntoView();
  };
  addEventListener('hashchange', follow);
  const head = element(
    'div',
    { class: 'dashboard-head' },
    element('div', {}, element('h1', { tabindex: '-1' }, 'Operations'), signedInAs(session, draw)),
    button('Sign out', 'quiet', leave),
  );
  draw();
  return {
    content: [
      head,
      finder.form,
      healthStrip(session),
      element('nav', { class: 'views', 'aria-label': 'Operations' }, ...links),
      view,
    ],
    end: () => removeEventListener('hashchange', follow),
  };
};
