import { element } from '../element.ts';
import type { Found } from './find-data.ts';
import { aboutLink, findLink, playerLink, roundLink } from './links.ts';
import { money, state, time } from './parts.ts';
import { addressOf } from './place.ts';

type Cell = Node | string;

/** How a group is shown: its columns, and the cells of a record. Fields with personal data are not shown. */
interface Shown {
  columns: readonly string[];
  cells: (record: Found, storeName: (id: string) => string) => readonly Cell[];
}

const textOf = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : '–');
const idOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const timeOf = (value: unknown): HTMLElement => time(idOf(value));

const looks: Readonly<Record<string, 'good' | 'warn' | 'bad'>> = {
  done: 'good',
  pending: 'warn',
  failed: 'bad',
  refused: 'bad',
  open: 'warn',
  closed: 'good',
  active: 'good',
  disabled: 'bad',
};
const badge = (value: unknown) => state(looks[textOf(value)] ?? 'plain', textOf(value));

const eventLink = (text: Cell, record: Found, id: unknown): HTMLElement =>
  element('a', { href: addressOf('webhooks', { store: idOf(record['storeId']), open: idOf(id) }) }, text);

const playerOf = ({ playerId }: Found) => playerLink(idOf(playerId));
const roundOf = ({ playerId, roundId }: Found) => roundLink(idOf(playerId), idOf(roundId));
const amount = (value: unknown, { currency }: Found) => money(textOf(value), textOf(currency));

/** By the name of the group. */
export const shownGroups: Readonly<Record<string, Shown>> = {
  Orders: {
    columns: ['Order', 'Number', 'Status', 'Member', 'Store', 'Changed'],
    cells: (order, storeName) => [
      findLink(idOf(order['id'])),
      textOf(order['orderNo']),
      badge(order['status']),
      findLink(idOf(order['consumerId'])),
      storeName(textOf(order['storeId'])),
      timeOf(order['updatedAt']),
    ],
  },
  Members: {
    columns: ['Member', 'Status', 'Type', 'Store', 'Changed'],
    cells: (member, storeName) => [
      findLink(idOf(member['id'])),
      badge(member['status']),
      textOf(member['type']),
      storeName(textOf(member['storeId'])),
      timeOf(member['updatedAt']),
    ],
  },
  'Delivery jobs': {
    columns: ['Job', 'Stage', 'Order', 'Store', 'Changed'],
    cells: (job, storeName) => [
      findLink(idOf(job['id'])),
      badge(job['stage']),
      findLink(idOf(job['orderId'])),
      storeName(textOf(job['storeId'])),
      timeOf(job['updatedAt']),
    ],
  },
  Payments: {
    columns: ['Transaction', 'Service', 'Order', 'Store', 'Registered'],
    cells: (payment, storeName) => [
      findLink(idOf(payment['transactionId'])),
      textOf(payment['service']),
      findLink(idOf(payment['orderId'])),
      storeName(textOf(payment['storeId'])),
      timeOf(payment['createdAt']),
    ],
  },
  Verifications: {
    columns: ['Transaction', 'Service', 'Status', 'Store', 'Changed'],
    cells: (verification, storeName) => [
      findLink(idOf(verification['transactionId'])),
      textOf(verification['service']),
      badge(verification['status']),
      storeName(textOf(verification['storeId'])),
      timeOf(verification['updatedAt']),
    ],
  },
  Webhooks: {
    columns: ['Received', 'Event', 'About', 'Status', 'Store', 'Error'],
    cells: (event, storeName) => [
      eventLink(timeOf(event['receivedAt']), event, event['id']),
      element('code', {}, textOf(event['event'])),
      aboutLink(idOf(event['entity'])),
      badge(event['status']),
      storeName(textOf(event['storeId'])),
      element('span', { class: 'cut' }, textOf(event['error'])),
    ],
  },
  Notifications: {
    columns: ['Created', 'About', 'Subject', 'For', 'Mail', 'Event', 'Store'],
    cells: (notification, storeName) => [
      timeOf(notification['createdAt']),
      findLink(idOf(notification['reference'])),
      textOf(notification['subject']),
      textOf(notification['audience']),
      badge(notification['mail']),
      idOf(notification['eventId']) === null ? '–' : eventLink('Open', notification, notification['eventId']),
      storeName(textOf(notification['storeId'])),
    ],
  },
  Players: {
    columns: ['Player', 'Status', 'Balance', 'Audit log'],
    cells: (player) => [
      playerOf(player),
      badge(player['status']),
      amount(player['balance'], player),
      element('a', { href: addressOf('ledger', { playerId: idOf(player['playerId']) }) }, 'Open'),
    ],
  },
  Rounds: {
    columns: ['Round', 'Player', 'Game', 'Status', 'Opened', 'Closed'],
    cells: (round) => [
      roundOf(round),
      playerOf(round),
      textOf(round['gameCode']),
      badge(round['status']),
      timeOf(round['openedAt']),
      timeOf(round['closedAt']),
    ],
  },
  'Ledger entries': {
    columns: ['Transaction', 'Operation', 'Amount', 'Balance after', 'Player', 'Round', 'Reverses', 'At'],
    cells: (entry) => [
      findLink(idOf(entry['transactionId'])),
      textOf(entry['operation']),
      amount(entry['amount'], entry),
      amount(entry['balanceAfter'], entry),
      playerOf(entry),
      roundOf(entry),
      findLink(idOf(entry['reverseTransactionId'])),
      timeOf(entry['at']),
    ],
  },
};
