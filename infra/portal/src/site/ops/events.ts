import { button, element } from '../element.ts';
import { openEvent } from './event-dialog.ts';
import { lookOf, type Event, type EventPage } from './events-data.ts';
import { choice, field, show, state, table } from './parts.ts';
import { pager } from './pages.ts';
import { replaySpan } from './replay-span.ts';
import type { Session } from './session.ts';
import { when } from './text.ts';

interface Store {
  id: string;
  name: string;
}

const any = ['', 'Any'] as const;
const pairs = (values: readonly string[]) => [any, ...values.map((value) => [value, value] as const)];

const dateInput = () => element('input', { type: 'datetime-local' });

const row = (event: Event, open: () => void) => [
  button(when(event.receivedAt), 'link', open),
  element('code', {}, event.event),
  element('code', {}, event.entity ?? '–'),
  state(lookOf(event), event.status),
  String(event.attempts),
  element('span', { class: 'cut' }, event.error ?? '–'),
];

const columns = ['Received', 'Event', 'About', 'Status', 'Attempts', 'Error'];

const listView = (session: Session, stores: readonly Store[]): HTMLElement => {
  const store = choice(stores.map(({ id, name }) => [id, name] as const));
  const status = choice(pairs(EVENT_FILTERS.status));
  const kind = choice(pairs(EVENT_FILTERS.event));
  const [from, to] = [dateInput(), dateInput()];
  const list = element('div', { class: 'list' });

  const load = (page: number): void => {
    const path = `/v1/stores/${encodeURIComponent(store.value)}/events`;
    const asked = { status: status.value, event: kind.value, from: instant(from), to: instant(to) };
    const query = new URLSearchParams({ page: String(page), limit: '25' });
    for (const [name, value] of Object.entries(asked)) if (value !== '') query.set(name, value);
    void show(list, async () => {
      const { events, page: at } = await session.ask<EventPage>(`${path}?${query}`);
      if (events.length === 0) return element('p', { class: 'note soft' }, 'No webhook matches the filter.');
      const rows = events.map((event) =>
        row(event, () => openEvent(session, `${path}/${encodeURIComponent(event.id)}`, () => load(page))),
      );
      return element('div', {}, table('Webhooks', columns, rows), pager(at, load));
    });
  };

  const many = button('Replay many …', 'quiet', () =>
    replaySpan(session, store.value, { from: from.value, to: to.value }, () => load(1)),
  );
  const filters = element(
    'form',
    { class: 'filters', 'aria-label': 'Filter' },
    field('Store', store),
    field('Status', status),
    field('Event', kind),
    field('From', from),
    field('To', to),
    many,
  );
  filters.addEventListener('change', () => load(1));
  filters.addEventListener('submit', (event) => event.preventDefault());
  load(1);
  return element('div', {}, filters, list);
};

/** A local date and time as an ISO time for the API; empty stays empty. */
export const instant = ({ value }: HTMLInputElement): string =>
  value === '' ? '' : new Date(value).toISOString();

/** Webhooks: filter, open, dry run, replay. */
export const eventsView = (session: Session): HTMLElement => {
  const view = element('section', { 'aria-label': 'Webhooks' });
  void show(view, async () => {
    const { stores } = await session.ask<{ stores: Store[] }>('/v1/stores?limit=200');
    return stores.length === 0
      ? element('p', { class: 'note soft' }, 'There is no store yet.')
      : listView(session, stores);
  });
  return view;
};
