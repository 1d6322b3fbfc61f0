import { element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { createFilters, showButton } from './filters.ts';
import { findLink, roundLink } from './links.ts';
import { facts, money, nothing, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf } from './place.ts';
import type { Session } from './session.ts';
import { operationText } from './text.ts';

const exclusion = ({ excluded, excludedUntil }: Wallet['Player']): string => {
  if (!excluded) return 'no';
  return excludedUntil === null ? 'without end' : `until ${excludedUntil}`;
};

const factsOf = (player: Wallet['Player']): Node =>
  facts([
    ['Status', state(player.status === 'active' ? 'good' : 'bad', player.status)],
    ['Balance', money(player.balance, player.currency)],
    ['Excluded', exclusion(player)],
    ['Added', time(player.createdAt)],
  ]);

const columns = ['No.', 'At', 'Operation', 'Amount', 'Balance after', 'Round', 'Transaction'];

const entryRow = (playerId: string, entry: Wallet['Entry']) => [
  String(entry.seq),
  time(entry.at),
  operationText(entry),
  money(entry.amount, entry.currency),
  money(entry.balanceAfter, entry.currency),
  roundLink(playerId, entry.roundId),
  findLink(entry.transactionId),
];

const linksOf = (playerId: string): HTMLElement => {
  const link = (view: string, text: string) => element('a', { href: addressOf(view, { playerId }) }, text);
  return element('p', { class: 'links' }, link('limits', 'Limits'), link('ledger', 'Audit log'));
};

/** One player: balance, status, and the entries with the newest first. */
export const playersView = (session: Session): HTMLElement => {
  const [about, list, more] = [element('div'), element('div', { class: 'list' }), element('div')];
  const found = element('div', {}, about, more, element('h2', {}, 'Entries'), list);
  const load = (): void => {
    const { playerId } = filters.values();
    found.hidden = playerId === undefined;
    if (playerId === undefined) return;
    more.replaceChildren(linksOf(playerId));
    const path = `/v1/players/${encodeURIComponent(playerId)}`;
    void show(about, async () => factsOf(await session.ask<WalletAnswer<'getPlayer'>>(path)));
    void show(list, async () => {
      const query = new URLSearchParams({ sort: '-seq', page: String(filters.page()), limit: '25' });
      const answer = await session.ask<WalletAnswer<'listEntries'>>(`${path}/entries?${query}`);
      if (answer.entries.length === 0) return nothing('This player has no entries.');
      const rows = answer.entries.map((entry) => entryRow(playerId, entry));
      return element('div', {}, table('Entries', columns, rows), pager(answer.page, filters.go));
    });
  };
  const player = element('input', { maxlength: '255', autocomplete: 'off' });
  const filters = createFilters({ playerId: ['Player', player] }, load, showButton());
  load();
  return element('section', { 'aria-label': 'Players' }, filters.form, found);
};
