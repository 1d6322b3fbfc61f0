import { button, element } from '../element.ts';
import { search, type Found, type Group, type SearchResult } from './find-data.ts';
import { shownGroups, type Shown } from './find-rows.ts';
import { nothing, replaceContent, show, table } from './parts.ts';
import { addressOf, place } from './place.ts';
import type { Refused, Session } from './session.ts';
import { storeNames } from './stores.ts';
import { isTemporary } from './text.ts';

const placeholder =
  'Order number, or id of an order, member, job, transaction, player, round, event or request';

/** The text of the search in the address. */
const asked = (): string => place().filters.get('q') ?? '';

/** The search field above every view. Enter opens the view with the results. */
export const searchForm = (): { form: HTMLFormElement; update: () => void } => {
  const input = element('input', {
    type: 'search',
    id: 'find',
    maxlength: '255',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder,
  });
  const form = element(
    'form',
    { class: 'find', role: 'search' },
    element('label', { for: 'find', class: 'unseen' }, 'Find'),
    input,
    element('button', { type: 'submit', class: 'quiet' }, 'Find'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== '') location.hash = addressOf('find', { q: text });
  });
  return {
    form,
    update: () => {
      if (place().view === 'find') input.value = asked();
    },
  };
};

/** Names of the stores, as far as the token may read them. */
const namesOfStores = async (session: Session): Promise<(id?: string) => string> => {
  const names = await storeNames(session).catch(() => new Map<string, string>());
  return (id = '–') => names.get(id) ?? id;
};

const groupSection = ({ name, records, hasMore }: Group, storeName: (id?: string) => string): HTMLElement => {
  const { columns, cells } = shownGroups[name] as Shown<Found[keyof Found]>;
  return element(
    'section',
    { 'aria-label': name },
    element('h2', {}, name),
    element(
      'div',
      { class: 'list' },
      table(
        name,
        columns,
        records.map((record) => cells(record, storeName)),
      ),
    ),
    hasMore ? element('p', { class: 'soft' }, 'There are more of these; the newest are shown.') : null,
  );
};

const notFound = (text: string): HTMLElement =>
  element(
    'div',
    { class: 'note' },
    element('p', {}, 'Nothing has the id ', element('code', {}, text), '.'),
    element(
      'p',
      { class: 'soft' },
      'Ids are compared exactly, with upper and lower case. A request id that no webhook had is in the log of the gateway and of the service that answered it.',
    ),
  );

/** The errors of services that could not be searched, with a button when they may answer later. */
const notSearched = (errors: readonly Refused[], retry: () => void): HTMLElement | null => {
  if (errors.length === 0) return null;
  const again = element('div', { class: 'actions' }, button('Try again', 'quiet', retry, 'again'));
  const texts = errors.map(({ reason }) =>
    element('p', { class: 'error', role: 'alert' }, `Not everything was searched: ${reason}`),
  );
  return element('div', { class: 'note' }, ...texts, errors.some(isTemporary) ? again : null);
};

const notAnswered = (services: readonly string[]): HTMLElement =>
  element(
    'p',
    { class: 'loading soft', role: 'status' },
    `Still waiting for an answer of ${services.join(' and ')} …`,
  );

const resultOf = (
  { groups, missing, errors }: SearchResult,
  text: string,
  storeName: (id?: string) => string,
  retry: () => void,
): HTMLElement => {
  const isComplete = missing.length === 0 && errors.length === 0;
  return element(
    'div',
    {},
    ...missing.map((scope) =>
      element(
        'p',
        { class: 'note soft' },
        `Not everything was searched: the token lacks the scope ${scope}.`,
      ),
    ),
    notSearched(errors, retry),
    ...groups.map((group) => groupSection(group, storeName)),
    groups.length > 0 ? null : isComplete ? notFound(text) : nothing('Nothing was found in the rest.'),
  );
};

/** Everything that all stores and services know of the id in the address. */
export const findView = (session: Session): HTMLElement => {
  const text = asked();
  const results = element('div', { role: 'status' });
  const view = element('section', { 'aria-label': 'Find' }, results);
  if (text === '') {
    results.append(nothing('Type an id or a number to find what all stores and services know of it.'));
    return view;
  }
  const load = (): void => {
    void show(results, async () => {
      const [result, storeName] = await Promise.all([
        search(session, text, (services) => replaceContent(results, notAnswered(services))),
        namesOfStores(session),
      ]);
      return resultOf(result, text, storeName, load);
    });
  };
  load();
  return view;
};
