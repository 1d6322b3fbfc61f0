import { button, element } from '../element.ts';
import { openEvent } from './event-dialog.ts';
import { lookOf, type Event, type EventPage } from './events-data.ts';
import { createFilters } from './filters.ts';
import { choice, nothing, show, state, table } from './parts.ts';
import { pager } from './pages.ts';
import { changeFilters, place } from './place.ts';
import { replaySpan } from './replay-span.ts';
import type { Session } from './session.ts';
import { when } from './time.ts';

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
  const list = element('div', { class: 'list' });
  const path = (): string => `/v1/stores/${encodeURIComponent(store.value)}/events`;

  const open = (id: string): void => {
    changeFilters({ open: id });
    const dialog = openEvent(session, `${path()}/${encodeURIComponent(id)}`, load);
    dialog.addEventListener('close', () => changeFilters({ open: '' }));
  };
  const load = (): void => {
    const { store: _store, ...asked } = filters.values();
    const query = new URLSearchParams({ ...asked, page: String(filters.page()), limit: '25' });
    void show(list, async () => {
      const { events, page } = await session.ask<EventPage>(`${path()}?${query}`);
      if (events.length === 0) return nothing('No webhook matches the filter.');
      const rows = events.map((event) => row(event, () => open(event.id)));
      return element('div', {}, table('Webhooks', columns, rows), pager(page, filters.go));
    });
  };
  const many = button('Replay many …', 'quiet', () => replaySpan(session, path(), filters.values(), load));
  const filters = createFilters(
    {
      store: ['Store', store],
      status: ['Status', choice(pairs(EVENT_FILTERS.status))],
      event: ['Event', choice(pairs(EVENT_FILTERS.event))],
      entity: [
        'About',
        element('input', { maxlength: '200', autocomplete: 'off', placeholder: 'order/1001' }),
      ],
      from: ['From', dateInput()],
      to: ['To', dateInput()],
    },
    load,
    many,
  );
  load();
  const opened = place().filters.get('open');
  if (opened !== null) open(opened);
  return element('div', {}, filters.form, list);
};

/** Webhooks: filter, open, dry run, replay. */
export const eventsView = (session: Session): HTMLElement => {
  const view = element('section', { 'aria-label': 'Webhooks' });
  void show(view, async () => {
    const { stores } = await session.ask<{ stores: Store[] }>('/v1/stores?limit=200');
    return stores.length === 0 ? nothing('There is no store yet.') : listView(session, stores);
  });
  return view;
};
