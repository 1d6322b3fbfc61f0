import { button, element } from '../element.ts';
import { eventsView } from './events.ts';
import { ledgerView } from './ledger.ts';
import { roundsView } from './rounds.ts';
import type { Session } from './session.ts';
import { trafficView } from './traffic.ts';

const views: Readonly<Record<string, { name: string; draw: (session: Session) => HTMLElement }>> = {
  traffic: { name: 'Traffic', draw: trafficView },
  webhooks: { name: 'Webhooks', draw: eventsView },
  rounds: { name: 'Rounds', draw: roundsView },
  ledger: { name: 'Ledger', draw: ledgerView },
};

/** The view that the fragment of the address names, else the first one. */
const chosen = (): string => {
  const name = location.hash.slice(1);
  return Object.hasOwn(views, name) ? name : 'traffic';
};

/** The views after the sign-in; `leave` is called by the sign-out button. */
export const createDashboard = (
  session: Session,
  leave: () => void,
): { content: Node[]; end: () => void } => {
  const links = Object.entries(views).map(([key, { name }]) => element('a', { href: `#${key}` }, name));
  const view = element('div', { class: 'view' });
  const draw = (): void => {
    const key = chosen();
    for (const link of links) {
      if (link.hash === `#${key}`) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    view.replaceChildren(...(views[key] ? [views[key].draw(session)] : []));
  };
  addEventListener('hashchange', draw);
  const until = session.expiresAt ? `, until ${session.expiresAt.toLocaleString()}` : '';
  const who = element('p', { class: 'soft' }, `Signed in as ${session.subject}${until}`);
  const head = element(
    'div',
    { class: 'dashboard-head' },
    element('div', {}, element('h1', { tabindex: '-1' }, 'Operations'), who),
    button('Sign out', 'quiet', leave),
  );
  draw();
  return {
    content: [head, element('nav', { class: 'views', 'aria-label': 'Operations' }, ...links), view],
    end: () => removeEventListener('hashchange', draw),
  };
};
