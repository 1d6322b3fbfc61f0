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

/** The place that the address names; the view may not exist. */
export const place = signal(read());

/** Links that were followed and steps back. Each begins the view anew; `isFromContent` after a link in a view or a dialog. */
export const navigation = signal({ count: 0, isFromContent: false });

/** Begins the view anew. */
export const restartView = (isFromContent = false): void => {
  navigation.value = { count: navigation.value.count + 1, isFromContent };
};

addEventListener('hashchange', () =>
  batch(() => {
    place.value = read();
    restartView(document.activeElement?.closest('.view, dialog') !== null);
  }),
);

/** The address of a view, for links. Filters without a value are left out. */
export const addressOf = (view: string, filters: Readonly<Record<string, string | null>> = {}): string => {
  const given = Object.entries(filters).filter((one): one is [string, string] => Boolean(one[1]));
  return given.length === 0 ? `#${view}` : `#${view}?${new URLSearchParams(given)}`;
};

/** The path of a round in the API. */
export const pathOfRound = (player: string, round: string): string =>
  `/v1/players/${encodeURIComponent(player)}/rounds/${encodeURIComponent(round)}`;

/** Opens a view, which gets the focus. */
export const goTo = (address: string): void =>
  batch(() => {
    history.pushState(null, '', address);
    place.value = read();
    restartView(true);
  });

/** Changes some filters of the address and keeps the others, without beginning the view anew. "Back" undoes it. */
export const changeFilters = (changes: Readonly<Record<string, string>>): void => {
  const { view, filters } = place.value;
  const address = addressOf(view, { ...Object.fromEntries(filters), ...changes });
  if (address === location.hash) return;
  history.pushState(null, '', address);
  place.value = read();
};

/** Opens the record with an id above the view; the address names it. Closes the one that is open without an id. */
export const open = (id = ''): void => changeFilters({ open: id });

/** Replaces the whole address of the page, query included, by a view (`#webhooks`, or nothing for the first one). */
export const replaceAddress = (fragment: string): void => {
  history.replaceState(null, '', location.pathname + fragment);
  place.value = read();
};
