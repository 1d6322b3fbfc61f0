import { element } from '../element.ts';
import { askReadiness, showHealth } from '../readiness.ts';
import { createChart } from './chart.ts';
import { state } from './parts.ts';
import { Refused, type Session } from './session.ts';
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
  const tell = (text: string, isError: boolean): void => {
    note.textContent = text;
    note.classList.toggle('error', isError);
  };
  /** Returns the error, if any. */
  const refresh = async (): Promise<unknown> => {
    showHealth(health, await askReadiness(name));
    try {
      const summary = await session.ask<Summary>(`/docs/ops/summary/${name}`);
      // As the newest one: Map keeps the place of a key.
      known.delete(summary.instance);
      known.set(summary.instance, summary);
      const traffic = combine([...known.values()]);
      requests.draw(traffic.times, traffic.requests);
      errors.draw(traffic.times, traffic.errors);
      p99.draw(traffic.times, traffic.p99);
      tell(known.size > 1 ? `${known.size} processes` : '', false);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const heading = element('h2', {}, title);
  const head = element('div', { class: 'service-head' }, heading, health, note);
  const section = element('li', { class: 'service' }, head, requests.figure, errors.figure, p99.figure);
  return { section, refresh, tell };
};

const reasonOf = (error: unknown): string => (error instanceof Refused ? error.reason : errorText(error));

/** Request rate, errors and p99 of each service. */
export const trafficView = (session: Session): HTMLElement => {
  const rows = SERVICES.map(({ name, title }) => row(session, name, title));
  const list = element('ul', { class: 'services' }, ...rows.map(({ section }) => section));
  const problem = element('div', { role: 'alert' });
  const refresh = async (): Promise<void> => {
    const errors = await Promise.all(rows.map((one) => one.refresh()));
    const [first] = errors;
    // An error that all have in common is shown once.
    const isShared = errors.every((error) => error !== undefined && reasonOf(error) === reasonOf(first));
    problem.replaceChildren(...(isShared ? [element('p', { class: 'error note' }, errorText(first))] : []));
    for (const [at, { tell }] of rows.entries())
      if (isShared) tell('', false);
      else if (errors[at] !== undefined) tell(errorText(errors[at]), true);
  };
  const keepRefreshing = async (): Promise<void> => {
    if (!document.hidden) await refresh();
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
      'The last half hour, measured by the services (or Prometheus, where they know one), refreshed every ten seconds. p99: 99 of 100 requests were answered within this time.',
    ),
    problem,
    list,
  );
};
