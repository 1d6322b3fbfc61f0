import { element } from '../element.ts';
import { askReadiness, showHealth } from '../readiness.ts';
import { createChart } from './chart.ts';
import { state } from './parts.ts';
import type { Session } from './session.ts';
import { errorText } from './text.ts';
import { combine, type Summary } from './traffic-data.ts';

const refreshMs = 10_000;

const row = (session: Session, name: string, title: string) => {
  const health = state('plain', 'Checking');
  const note = element('p', { class: 'soft instances' });
  const requests = createChart('Requests', '/s', 1, '--accent');
  const errors = createChart('Errors', ' %', 5, '--bad');
  const p99 = createChart('p99', ' ms', 10, '--accent');
  // Each request reaches one process; the latest summary of each is kept.
  const known = new Map<string, Summary>();
  const refresh = async (): Promise<void> => {
    showHealth(health, await askReadiness(name));
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
      note.textContent = errorText(error);
      note.classList.add('error');
    }
  };
  const heading = element('h3', {}, title);
  const head = element('div', { class: 'service-head' }, heading, health, note);
  const section = element('li', { class: 'service' }, head, requests.figure, errors.figure, p99.figure);
  return { section, refresh };
};

/** Request rate, errors and p99 of each service. */
export const trafficView = (session: Session): HTMLElement => {
  const rows = SERVICES.map(({ name, title }) => row(session, name, title));
  const list = element('ul', { class: 'services' }, ...rows.map(({ section }) => section));
  const keepRefreshing = async (): Promise<void> => {
    if (!document.hidden) await Promise.all(rows.map(({ refresh }) => refresh()));
    if (list.isConnected) setTimeout(() => void keepRefreshing(), refreshMs);
  };
  // After the view is in the page, because charts take their width from it.
  requestAnimationFrame(() => void keepRefreshing());
  return element(
    'section',
    { 'aria-label': 'Traffic' },
    element(
      'p',
      { class: 'soft' },
      'The last half hour, measured by the services, refreshed every ten seconds.',
    ),
    list,
  );
};
