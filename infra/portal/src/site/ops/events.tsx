import { useSignal } from '@preact/signals';
import type { Webhooks } from './api.ts';
import { ContentView, refreshAll, useLoaded } from './content.tsx';
import { EventDialog } from './event-dialog.tsx';
import { eventState } from './event-parts.tsx';
import { Filters, anyOf, filterValues, type Filter } from './filters.tsx';
import { aboutLink } from './links.tsx';
import { List } from './list.tsx';
import { button, emptyNote, opener, time, type Columns } from './parts.tsx';
import { addressOf, open, place } from './place.ts';
import { ReplaySpan } from './replay-span.tsx';
import { useSession } from './session.ts';
import { eventsOf, everyStore, storeNames } from './stores.ts';

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', options: anyOf(CHOICES.events.status) },
  { name: 'event', label: 'Event', options: anyOf(CHOICES.events.event) },
  { name: 'entity', label: 'About', maxLength: 200, placeholder: 'Id, such as order-1' },
  { name: 'from', label: 'From', type: 'datetime-local', isFolded: true },
  { name: 'to', label: 'To', type: 'datetime-local', isFolded: true },
];

/** @param nameOf returns the name of a store; only for a list with webhooks of several stores */
const columns = (nameOf: ((id?: string) => string) | undefined): Columns<Webhooks['Event']> => ({
  Received: ({ id, receivedAt }) => opener(time(receivedAt), id, () => open(id)),
  Event: ({ event }) => <code class="number">{event}</code>,
  About: ({ entity }) => aboutLink(entity),
  Status: eventState,
  ...(nameOf && { Store: ({ storeId }: Webhooks['Event']) => nameOf(storeId) }),
  Attempts: ({ attempts }) => String(attempts),
  Error: ({ error }) => <span class="cut">{error ?? '–'}</span>,
});

/** Shown if no webhook matches. It mentions Find, because the filter `entity` takes ids but no order numbers. */
const noMatch = (entity: string | undefined) => (
  <p class="note soft">
    No webhook matches the filter.
    {entity !== undefined && (
      <>
        {' To search by order number, use '}
        <a href={addressOf('find', { q: entity })}>Find</a>.
      </>
    )}
  </p>
);

const EventList = ({ names, refresh }: { names: ReadonlyMap<string, string>; refresh: () => void }) => {
  const storeFilter: Filter = {
    name: 'store',
    label: 'Store',
    options: [[everyStore, 'All stores'], ...names],
  };
  const { store = everyStore } = filterValues([storeFilter]);
  const values = filterValues(filters);
  const isEveryStore = store === everyStore;
  const path = eventsOf(store);
  const nameOf = (id = store): string => names.get(id) ?? id;
  const isReplaying = useSignal(false);
  const opened = place.value.filters.get('open');
  return (
    <>
      <Filters
        filters={[storeFilter, ...filters]}
        folded={{
          title: 'Time',
          isOpen: place.value.filters.has('from') || place.value.filters.has('to'),
        }}
      >
        {button(
          isEveryStore ? 'Choose a store to replay many' : 'Replay many …',
          () => (isReplaying.value = true),
          'quiet',
          { disabled: isEveryStore },
        )}
        {button('Refresh', refresh, 'quiet')}
      </Filters>
      <List
        caption="Webhooks"
        path={path}
        filters={filters}
        columns={columns(isEveryStore ? nameOf : undefined)}
        keyOf={({ id }) => id}
        empty={noMatch(values['entity'])}
      />
      {opened !== null && (
        <EventDialog key={opened} store={store} id={opened} nameOf={nameOf} onClose={open} />
      )}
      {isReplaying.value && (
        <ReplaySpan
          events={path}
          storeName={nameOf()}
          initial={values}
          onClose={() => (isReplaying.value = false)}
        />
      )}
    </>
  );
};

/** Webhooks: filter, open, dry run, replay. */
export const View = () => {
  const session = useSession();
  const list = useLoaded(async () => {
    const names = await storeNames(session);
    if (names.size === 0 && session.may('stores:read')) return emptyNote('There is no store yet.');
    return <EventList names={names} refresh={refresh} />;
  }, []);
  const refresh = (): void => {
    list.reload();
    refreshAll();
  };
  return <ContentView content={list} />;
};
