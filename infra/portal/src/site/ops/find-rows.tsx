import type { ComponentChildren } from 'preact';
import type { Found } from './find-data.ts';
import { aboutLink, findLink, playerLink, roundLink } from './links.tsx';
import { badge, code, money, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { refusalColumns } from './refusals.tsx';

const eventLink = (text: ComponentChildren, storeId: string | undefined, id: string) => (
  <a href={addressOf('webhooks', { store: storeId ?? null, open: id })}>{text}</a>
);

const changed = { Changed: ({ updatedAt }: { updatedAt: string }) => time(updatedAt) };

/** The columns of each group, by its name. Fields with personal data are not shown. */
export const groupColumns = (
  storeName: (id?: string) => string,
): { readonly [Name in keyof Found]: Columns<Found[Name]> } => {
  const store = { Store: ({ storeId }: { storeId?: string }) => storeName(storeId) };
  return {
    Orders: {
      Order: ({ id }) => findLink(id),
      Number: ({ orderNo }) => orderNo,
      Status: ({ status }) => badge(status),
      Member: ({ consumerId }) => findLink(consumerId),
      ...store,
      ...changed,
    },
    Members: {
      Member: ({ id }) => findLink(id),
      Status: ({ status }) => badge(status),
      Type: ({ type }) => type,
      ...store,
      ...changed,
    },
    'Delivery jobs': {
      Job: ({ id }) => findLink(id),
      Stage: ({ stage }) => badge(stage),
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
      Status: ({ status }) => badge(status),
      ...store,
      ...changed,
    },
    Webhooks: {
      Received: ({ receivedAt, storeId, id }) => eventLink(time(receivedAt), storeId, id),
      Event: ({ event }) => code(event),
      About: ({ entity }) => aboutLink(entity),
      Status: ({ status }) => badge(status),
      ...store,
      Error: ({ error }) => <span class="cut">{error ?? '–'}</span>,
    },
    Notifications: {
      Created: ({ createdAt }) => time(createdAt),
      About: ({ reference }) => findLink(reference),
      Subject: ({ subject }) => subject,
      For: ({ audience }) => audience,
      Mail: ({ mail }) => badge(mail),
      Event: ({ eventId, storeId }) => eventId && eventLink('Open', storeId, eventId),
      ...store,
    },
    Players: {
      Player: ({ playerId }) => playerLink(playerId),
      Status: ({ status }) => badge(status),
      Balance: ({ balance, currency }) => money(balance, currency),
      'Audit log': ({ playerId }) => <a href={addressOf('ledger', { playerId })}>Open</a>,
    },
    Rounds: {
      Round: ({ playerId, roundId }) => roundLink(playerId, roundId),
      Player: ({ playerId }) => playerLink(playerId),
      Game: ({ gameCode }) => gameCode,
      Status: ({ status }) => badge(status),
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
