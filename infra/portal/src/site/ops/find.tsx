import type { ComponentChildren } from 'preact';
import { Shown, useLoaded } from './content.tsx';
import { search, type Group, type SearchResult } from './find-data.ts';
import { groupColumns } from './find-rows.tsx';
import { button, nothing, type Columns } from './parts.tsx';
import { place } from './place.ts';
import { useSession, type Refused, type Session } from './session.ts';
import { storeNames } from './stores.ts';
import { Table } from './table.tsx';
import { isTemporary } from './text.ts';

type NameOf = (id?: string) => string;

/** Names of the stores, as far as the token may read them. */
const namesOfStores = async (session: Session): Promise<NameOf> => {
  const names = await storeNames(session).catch(() => new Map<string, string>());
  return (id = '–') => names.get(id) ?? id;
};

const groupOf = ({ name, records, hasMore }: Group, nameOf: NameOf) => (
  <section key={name} aria-label={name}>
    <h2>{name}</h2>
    <div class="list">
      <Table caption={name} columns={groupColumns(nameOf)[name] as Columns<object>} rows={records} />
    </div>
    {hasMore && <p class="soft">There are more of these; the newest are shown.</p>}
  </section>
);

const notFound = (text: string) => (
  <div class="note">
    <p>
      Nothing has the id <code>{text}</code>.
    </p>
    <p class="soft">
      Ids are compared exactly, with upper and lower case. A request id that no webhook had is in the log of
      the gateway and of the service that answered it.
    </p>
  </div>
);

/** The errors of services that could not be searched, with a button when they may answer later. */
const notSearched = (errors: readonly Refused[], retry: () => void) =>
  errors.length > 0 && (
    <div class="note">
      {errors.map(({ reason }) => (
        <p key={reason} class="error" role="alert">
          Not everything was searched: {reason}
        </p>
      ))}
      {errors.some(isTemporary) && <div class="actions">{button('Try again', retry, 'quiet')}</div>}
    </div>
  );

const resultOf = (
  { groups, missing, errors }: SearchResult,
  text: string,
  nameOf: NameOf,
  retry: () => void,
): ComponentChildren => {
  const isComplete = missing.length === 0 && errors.length === 0;
  return (
    <>
      {notSearched(errors, retry)}
      {groups.map((group) => groupOf(group, nameOf))}
      {groups.length === 0 &&
        (isComplete ? notFound(text) : nothing('Nothing was found in what was searched.'))}
      {missing.length > 0 && (
        <p class="note soft">Not everything was searched: the token lacks {missing.join(', ')}.</p>
      )}
    </>
  );
};

/** Everything that all stores and services know of the id in the address. */
export const View = () => {
  const session = useSession();
  const text = place.value.filters.get('q') ?? '';
  const results = useLoaded(
    async (tell) => {
      if (text === '')
        return nothing('Type an id or a number to find what all stores and services know of it.');
      const notAnswered = (services: readonly string[]): void =>
        tell(
          <p class="loading soft" role="status">
            Still waiting for an answer of {services.join(' and ')} …
          </p>,
        );
      const [result, nameOf] = await Promise.all([
        search(session, text, notAnswered),
        namesOfStores(session),
      ]);
      return resultOf(result, text, nameOf, results.reload);
    },
    [text],
  );
  return <Shown content={results} role="status" />;
};
