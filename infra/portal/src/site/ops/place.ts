/** A view of the operations page with its filters, as the fragment of the address: `#webhooks?status=failed&page=2`. */
export interface Place {
  view: string;
  filters: URLSearchParams;
}

/** The place that the address names; the view may not exist. */
export const place = (): Place => {
  const [view = '', filters] = location.hash.slice(1).split('?');
  return { view, filters: new URLSearchParams(filters) };
};

/** The address of a view, for links. Filters without a value are left out. */
export const addressOf = (view: string, filters: Readonly<Record<string, string | null>> = {}): string => {
  const given = Object.entries(filters).filter((one): one is [string, string] => Boolean(one[1]));
  return given.length === 0 ? `#${view}` : `#${view}?${new URLSearchParams(given)}`;
};

/** Changes some filters of the address and keeps the others, without drawing the view again. "Back" undoes it. */
export const changeFilters = (changes: Readonly<Record<string, string>>): void => {
  const { view, filters } = place();
  const address = addressOf(view, { ...Object.fromEntries(filters), ...changes });
  if (address !== location.hash) history.pushState(null, '', address);
};
