import { batch, signal } from '@preact/signals';

/** A view of the operations page with its filters, as the fragment of the address: `#webhooks?status=failed&page=2`. */
export interface Place {
  view: string;
  filters: URLSearchParams;
}

const read = (): Place => {
  const [view = '', filters] = location.hash.slice(1).split('?');
  return { view, filters: new URLSearchParams(filters) };
};

/** The view and filters of the current address. The view may not exist. */
export const place = signal(read());

/** Counts navigations, each of which restarts the view. `isFromContent`: a link in a view or a dialog caused the last one. */
export const navigation = signal({ count: 0, isFromContent: false });

/** Restarts the view. */
export const restartView = ({ isFromContent = false } = {}): void => {
  navigation.value = { count: navigation.value.count + 1, isFromContent };
};

addEventListener('hashchange', () =>
  batch(() => {
    place.value = read();
    restartView({ isFromContent: document.activeElement?.closest('.view, dialog') !== null });
  }),
);

/** The address of a view, for links. Filters without a value are omitted. */
export const addressOf = (view: string, filters: Readonly<Record<string, string | null>> = {}): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  return query.size === 0 ? `#${view}` : `#${view}?${query}`;
};

/** The path of a round in the API. */
export const pathOfRound = (player: string, round: string): string =>
  `/v1/players/${encodeURIComponent(player)}/rounds/${encodeURIComponent(round)}`;

/** Opens a view and focuses it. */
export const goTo = (address: string): void =>
  batch(() => {
    history.pushState(null, '', address);
    place.value = read();
    restartView({ isFromContent: true });
  });

/** Changes some filters in the address and keeps the others, without restarting the view. "Back" undoes it. */
export const changeFilters = (changes: Readonly<Record<string, string>>): void => {
  const { view, filters } = place.value;
  const address = addressOf(view, { ...Object.fromEntries(filters), ...changes });
  if (address === location.hash) return;
  history.pushState(null, '', address);
  place.value = read();
};

/** Value of `open` for a record that does not exist yet. */
export const newRecord = '+';

/** Opens a record in a dialog; the address contains its id. Without an id it closes the dialog. */
export const open = (id = ''): void => changeFilters({ open: id });

/** Replaces the address of the page, including its query, with a view (`#webhooks`; empty: the first view). */
export const replaceAddress = (fragment: string): void => {
  history.replaceState(null, '', location.pathname + fragment);
  place.value = read();
};
