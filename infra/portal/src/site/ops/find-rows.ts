import { element } from '../element.ts';
import type { Found } from './find-data.ts';
import { aboutLink, findLink, playerLink, roundLink } from './links.ts';
import { money, state, time } from './parts.ts';
import { addressOf } from './place.ts';

type Cell = Node | string;

/** How a group is shown: its columns, and the cells of a record. Fields with personal data are not shown. */
export interface Shown<Record> {
  columns: readonly string[];
  cells: (record: Record, storeName: (id?: string) => string) => readonly Cell[];
}

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
const badge = (status: string | null) => state(looks[status ?? ''] ?? 'plain', status ?? '–');

const eventLink = (text: Cell, storeId: string | undefined, id: string): HTMLElement =>
  element('a', { href: addressOf('webhooks', { store: storeId ?? null, open: id }) }, text);

/** By the name of the group. */
export const shownGroups: { readonly [Name in keyof Found]: Shown<Found[Name]> } = {
  Orders: {
    columns: ['Order', 'Number', 'Status', 'Member', 'Store', 'Changed'],
    cells: (order, storeName) => [
      findLink(order.id),
      order.orderNo ?? '–',
      badge(order.status),
      findLink(order.consumerId),
      storeName(order.storeId),
      time(order.updatedAt),
    ],
  },
  Members: {
    columns: ['Member', 'Status', 'Type', 'Store', 'Changed'],
    cells: (member, storeName) => [
      findLink(member.id),
      badge(member.status),
      member.type ?? '–',
      storeName(member.storeId),
      time(member.updatedAt),
    ],
  },
  'Delivery jobs': {
    columns: ['Job', 'Stage', 'Order', 'Store', 'Changed'],
    cells: (job, storeName) => [
      findLink(job.id),
      badge(job.stage),
      findLink(job.orderId),
      storeName(job.storeId),
      time(job.updatedAt),
    ],
  },
  Payments: {
    columns: ['Transaction', 'Service', 'Order', 'Store', 'Registered'],
    cells: (payment, storeName) => [
      findLink(payment.transactionId),
      payment.service,
      findLink(payment.orderId),
      storeName(payment.storeId),
      time(payment.createdAt),
    ],
  },
  Verifications: {
    columns: ['Transaction', 'Service', 'Status', 'Store', 'Changed'],
    cells: (verification, storeName) => [
      findLink(verification.transactionId),
      verification.service,
      badge(verification.status),
      storeName(verification.storeId),
      time(verification.updatedAt),
    ],
  },
  Webhooks: {
    columns: ['Received', 'Event', 'About', 'Status', 'Store', 'Error'],
    cells: (event, storeName) => [
      eventLink(time(event.receivedAt), event.storeId, event.id),
      element('code', {}, event.event),
      aboutLink(event.entity),
      badge(event.status),
      storeName(event.storeId),
      element('span', { class: 'cut' }, event.error ?? '–'),
    ],
  },
  Notifications: {
    columns: ['Created', 'About', 'Subject', 'For', 'Mail', 'Event', 'Store'],
    cells: (notification, storeName) => [
      time(notification.createdAt),
      findLink(notification.reference),
      notification.subject,
      notification.audience,
      badge(notification.mail),
      notification.eventId === null ? '–' : eventLink('Open', notification.storeId, notification.eventId),
      storeName(notification.storeId),
    ],
  },
  Players: {
    columns: ['Player', 'Status', 'Balance', 'Audit log'],
    cells: (player) => [
      playerLink(player.playerId),
      badge(player.status),
      money(player.balance, player.currency),
      element('a', { href: addressOf('ledger', { playerId: player.playerId }) }, 'Open'),
    ],
  },
  Rounds: {
    columns: ['Round', 'Player', 'Game', 'Status', 'Opened', 'Closed'],
    cells: (round) => [
      roundLink(round.playerId, round.roundId),
      playerLink(round.playerId),
      round.gameCode,
      badge(round.status),
      time(round.openedAt),
      time(round.closedAt),
    ],
  },
  'Ledger entries': {
    columns: ['Transaction', 'Operation', 'Amount', 'Balance after', 'Player', 'Round', 'Reverses', 'At'],
    cells: (entry) => [
      findLink(entry.transactionId),
      entry.operation,
      money(entry.amount, entry.currency),
      money(entry.balanceAfter, entry.currency),
      playerLink(entry.playerId),
      roundLink(entry.playerId, entry.roundId),
      findLink(entry.reverseTransactionId),
      time(entry.at),
    ],
  },
};
