import { element } from '../element.ts';
import { askReadiness, showWellness } from '../readiness.ts';
import { createChart } from './chart.ts';
import { state } from './parts.ts';
import type { Session } from './session.ts';
import { complaint } from './text.ts';
import { combine, type Summary } from './traffic-data.ts';

const askAgainMs = 10_000;

const row = (session: Session, name: string, title: string) => {
  const wellness = state('plain', 'Asking');
  const note = element('p', { class: 'soft instances' });
  const requests = createChart('Requests', '/s', 1, '--accent');
  const errors = createChart('Errors', ' %', 5, '--bad');
  const p99 = createChart('p99', ' ms', 10, '--accent');
  // The gateway asks one process at a time; what each said last is kept.
  const known = new Map<string, Summary>();
  const look = async (): Promise<void> => {
    showWellness(wellness, await askReadiness(name));
    try {
      const summary = await session.ask<Summary>(`/docs/ops/summary/${name}`);
      known.set(summary.instance, summary);
      const traffic = combine([...known.values()]);
      requests.draw(traffic.times, traffic.requests);
      errors.draw(traffic.times, traffic.errors);
      p99.draw(traffic.times, traffic.p99);
      note.textContent = known.size > 1 ? `${known.size} processes` : '';
      note.classList.remove('error');
    } catch (error) {
      note.textContent = complaint(error);
      note.classList.add('error');
    }
  };
  const heading = element('h3', {}, title);
  const head = element('div', { class: 'service-head' }, heading, wellness, note);
  const section = element('li', { class: 'service' }, head, requests.figure, errors.figure, p99.figure);
  return { section, look };
};

/** How much each service is asked, how much of that fails, and how long the slowest take. */
export const trafficView = (session: Session): HTMLElement => {
  const rows = SERVICES.map(({ name, title }) => row(session, name, title));
  const list = element('ul', { class: 'services' }, ...rows.map(({ section }) => section));
  const keepLooking = async (): Promise<void> => {
    if (!document.hidden) await Promise.all(rows.map(({ look }) => look()));
    if (list.isConnected) setTimeout(() => void keepLooking(), askAgainMs);
  };
  // After the view is in the page: charts are as wide as their place.
  requestAnimationFrame(() => void keepLooking());
  return element(
    'section',
    { 'aria-label': 'Traffic' },
    element(
      'p',
      { class: 'soft' },
      'The last half hour, from what each service measures itself; every ten seconds.',
    ),
    list,
  );
};
