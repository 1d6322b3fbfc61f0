import type { ComponentChildren } from 'preact';
import { ContentView, useLoaded } from './content.tsx';
import { search, type FoundRecords, type Group, type SearchResult } from './find-data.ts';
import { aboutLink, findLink, playerLink, roundLink } from './links.tsx';
import { Table } from './list.tsx';
import { statusBadge, button, code, money, emptyNote, time, type Columns } from './parts.tsx';
import { addressOf, place } from './place.ts';
import { refusalColumns } from './refusals.tsx';
import { useSession, type Refused, type Session } from './session.ts';
import { storeNames } from './stores.ts';
import { guideAddress, isTemporary } from './text.ts';

const eventLink = (text: ComponentChildren, storeId: string | undefined, id: string) => (
  <a href={addressOf('webhooks', { store: storeId ?? null, open: id })}>{text}</a>
);

const changed = { Changed: ({ updatedAt }: { updatedAt: string }) => time(updatedAt) };

/** The columns of each group, by its name. Fields with personal data are not shown. */
const groupColumns = (
  storeName: (id?: string) => string,
): { readonly [Name in keyof FoundRecords]: Columns<FoundRecords[Name]> } => {
  const store = { Store: ({ storeId }: { storeId?: string }) => storeName(storeId) };
  return {
    Orders: {
      Order: ({ id }) => findLink(id),
      Number: ({ orderNo }) => orderNo,
      Status: ({ status }) => statusBadge(status),
      Member: ({ consumerId }) => findLink(consumerId),
      ...store,
      ...changed,
    },
    Members: {
      Member: ({ id }) => findLink(id),
      Status: ({ status }) => statusBadge(status),
      Type: ({ type }) => type,
      ...store,
      ...changed,
    },
    'Delivery jobs': {
      Job: ({ id }) => findLink(id),
      Stage: ({ stage }) => statusBadge(stage),
      Order: ({ orderId }) => findLink(orderId),
      ...store,
      ...changed,
    },
    Payments: {
      Transaction: ({ transactionId }) => findLink(transactionId),
      Service: ({ service }) => service,
      Order: ({ orderId }) => findLink(orderId),
      ...store,
      Registered: ({ createdAt }) => time(createdAt),
    },
    Verifications: {
      Transaction: ({ transactionId }) => findLink(transactionId),
      Service: ({ service }) => service,
      Status: ({ status }) => statusBadge(status),
      ...store,
      ...changed,
    },
    Webhooks: {
      Received: ({ receivedAt, storeId, id }) => eventLink(time(receivedAt), storeId, id),
      Event: ({ event }) => code(event),
      About: ({ entity }) => aboutLink(entity),
      Status: ({ status }) => statusBadge(status),
      ...store,
      Error: ({ error }) => <span class="cut">{error ?? '–'}</span>,
    },
    Notifications: {
      Created: ({ createdAt }) => time(createdAt),
      About: ({ reference }) => findLink(reference),
      Subject: ({ subject }) => subject,
      For: ({ audience }) => audience,
      Mail: ({ mail }) => statusBadge(mail),
      Event: ({ eventId, storeId }) => eventId && eventLink('Open', storeId, eventId),
      ...store,
    },
    Players: {
      Player: ({ playerId }) => playerLink(playerId),
      Status: ({ status }) => statusBadge(status),
      Balance: ({ balance, currency }) => money(balance, currency),
      'Audit log': ({ playerId }) => <a href={addressOf('ledger', { playerId })}>Open</a>,
    },
    Rounds: {
      Round: ({ playerId, roundId }) => roundLink(playerId, roundId),
      Player: ({ playerId }) => playerLink(playerId),
      Game: ({ gameCode }) => gameCode,
      Status: ({ status }) => statusBadge(status),
      Opened: ({ openedAt }) => time(openedAt),
      Closed: ({ closedAt }) => time(closedAt),
    },
    'Ledger entries': {
      Transaction: ({ transactionId }) => findLink(transactionId),
      Operation: ({ operation }) => operation,
      Amount: ({ amount, currency }) => money(amount, currency),
      'Balance after': ({ balanceAfter, currency }) => money(balanceAfter, currency),
      Player: ({ playerId }) => playerLink(playerId),
      Round: ({ playerId, roundId }) => roundLink(playerId, roundId),
      Reverses: ({ reverseTransactionId }) => findLink(reverseTransactionId),
      At: ({ at }) => time(at),
    },
    'Refused callbacks': refusalColumns,
  };
};

type NameOf = (id?: string) => string;

/** Returns a function for the name of a store; if the token may not read stores, it returns the id. */
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
    {hasMore && <p class="soft">There are more results; only the newest are shown.</p>}
  </section>
);

const notFound = (text: string) => (
  <div class="note">
    <p>
      Nothing has the id <code>{text}</code>.
    </p>
    <p class="soft">
      Ids are compared exactly, with upper and lower case. Names, mail addresses and phone numbers of
      customers can be found with an API request:{' '}
      <a href={guideAddress('docs/store-webhooks.md#answering-a-customer')}>Guide</a>. To find a request id
      that belongs to no webhook, search the logs of the gateway and of the service.
    </p>
  </div>
);

/** The errors of services that could not be searched, with a retry button if they are temporary. */
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
        (isComplete ? notFound(text) : emptyNote('Nothing was found in the searched services.'))}
      {missing.length > 0 && (
        <p class="note soft">Not everything was searched: the token lacks {missing.join(', ')}.</p>
      )}
    </>
  );
};

/** Search results in all stores and services for the id in the address. */
export const View = () => {
  const session = useSession();
  const text = place.value.filters.get('q') ?? '';
  const results = useLoaded(
    async (showMeanwhile) => {
      if (text === '') return emptyNote('Enter an id or a number to search all stores and services for it.');
      const showSlowServices = (services: readonly string[]): void =>
        showMeanwhile(
          <p class="loading soft" role="status">
            Still waiting for {services.join(' and ')} …
          </p>,
        );
      const [result, nameOf] = await Promise.all([
        search(session, text, showSlowServices),
        namesOfStores(session),
      ]);
      return resultOf(result, text, nameOf, results.reload);
    },
    [text],
  );
  return <ContentView content={results} role="status" />;
};
