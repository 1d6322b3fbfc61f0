import { button, element } from '../element.ts';
import type { Webhooks, WebhooksAnswer } from './api.ts';
import { openEvent } from './event-dialog.ts';
import { aboutLink } from './links.ts';
import { lookOf } from './events-data.ts';
import { createFilters } from './filters.ts';
import { choice, nothing, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf, changeFilters, place } from './place.ts';
import { replaySpan } from './replay-span.ts';
import type { Session } from './session.ts';
import { storeNames } from './stores.ts';

const any = ['', 'Any'] as const;
const pairs = (values: readonly string[]) => [any, ...values.map((value) => [value, value] as const)];

const dateInput = () => element('input', { type: 'datetime-local' });

/** In place of a store's id, as in the API: the webhooks of all stores. */
const everyStore = '-';

const row = (event: Webhooks['Event'], storeName: string | undefined, open: () => void) => [
  button(time(event.receivedAt), 'link', open, event.id),
  element('code', { class: 'number' }, event.event),
  aboutLink(event.entity),
  state(lookOf(event), event.status),
  ...(storeName === undefined ? [] : [storeName]),
  String(event.attempts),
  element('span', { class: 'cut' }, event.error ?? '–'),
];

const columns = (hasStore: boolean) => [
  'Received',
  'Event',
  'About',
  'Status',
  ...(hasStore ? ['Store'] : []),
  'Attempts',
  'Error',
];

/** An order number is no id, and the list can be filtered by ids only. */
const noMatch = (about: string | null): HTMLElement => {
  const text = nothing('No webhook matches the filter.');
  if (about !== null)
    text.append(
      ' To search by order number, use ',
      element('a', { href: addressOf('find', { q: about }) }, 'Find'),
      '.',
    );
  return text;
};

const listView = (session: Session, names: ReadonlyMap<string, string>, refresh: () => void): HTMLElement => {
  const store = choice([[everyStore, 'All stores'], ...names]);
  const list = element('div', { class: 'list' });
  const nameOf = (id: string): string => names.get(id) ?? id;
  const path = (id = store.value): string => `/v1/stores/${encodeURIComponent(id)}/events`;

  const open = (id: string, storeId: string): void => {
    changeFilters({ open: id });
    const dialog = openEvent(session, `${path(storeId)}/${encodeURIComponent(id)}`, nameOf(storeId), load);
    dialog.addEventListener('close', () => changeFilters({ open: '' }));
  };
  /** Opens an event of an address that names no store. */
  const lookUp = async (id: string): Promise<void> => {
    const query = new URLSearchParams({ id });
    // The list below the filters shows why it failed.
    const { events } = await session
      .ask<WebhooksAnswer<'listEvents'>>(`${path()}?${query}`)
      .catch(() => ({ events: [] }));
    const [event] = events;
    if (event?.storeId !== undefined) open(id, event.storeId);
  };
  const load = (): void => {
    const { store: _store, ...asked } = filters.values();
    const query = new URLSearchParams({ ...asked, page: String(filters.page()), limit: '25' });
    const isEvery = store.value === everyStore;
    many.disabled = isEvery;
    many.textContent = isEvery ? 'Choose a store to replay many' : 'Replay many …';
    void show(list, async () => {
      const { events, page } = await session.ask<WebhooksAnswer<'listEvents'>>(`${path()}?${query}`);
      if (events.length === 0) return noMatch(query.get('entity'));
      const rows = events.map((event) => {
        const { id, storeId = store.value } = event;
        return row(event, isEvery ? nameOf(storeId) : undefined, () => open(id, storeId));
      });
      return element('div', {}, table('Webhooks', columns(isEvery), rows), pager(page, filters.go));
    });
  };
  const many = button('Replay many …', 'quiet', () =>
    replaySpan(session, path(), nameOf(store.value), filters.values(), load),
  );
  const filters = createFilters(
    {
      store: ['Store', store],
      status: ['Status', choice(pairs(EVENT_FILTERS.status))],
      event: ['Event', choice(pairs(EVENT_FILTERS.event))],
      entity: [
        'About',
        element('input', { maxlength: '200', autocomplete: 'off', placeholder: 'Id, such as order-1' }),
      ],
      from: ['From', dateInput()],
      to: ['To', dateInput()],
    },
    load,
    many,
    button('Refresh', 'quiet', refresh, 'refresh'),
  );
  load();
  const opened = place().filters.get('open');
  if (opened !== null && store.value !== everyStore) open(opened, store.value);
  else if (opened !== null) void lookUp(opened);
  return element('div', {}, filters.form, list);
};

/** Webhooks: filter, open, dry run, replay. */
export const eventsView = (session: Session): HTMLElement => {
  const view = element('section', { 'aria-label': 'Webhooks' });
  const load = (): void => {
    void show(view, async () => {
      const names = await storeNames(session);
      return names.size === 0 ? nothing('There is no store yet.') : listView(session, names, load);
    });
  };
  load();
  return view;
};
