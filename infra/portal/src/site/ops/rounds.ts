import { button, element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { createFilters } from './filters.ts';
import { findLink, playerLink } from './links.ts';
import { choice, facts, field, money, nothing, openDialog, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf, changeFilters, place } from './place.ts';
import type { Session } from './session.ts';
import { operationText } from './text.ts';

const ages = [
  ['3600', '1 hour'],
  ['900', '15 minutes'],
  ['21600', '6 hours'],
  ['86400', '1 day'],
  ['0', 'a moment'],
] as const;

const code = (text: string) => element('code', {}, text);

const amount = (sum: string | null, currency: string) => (sum === null ? '–' : money(sum, currency));

const history = ({ entries, currency }: Wallet['RoundWithEntries']): Node =>
  table(
    'Entries of the round',
    ['No.', 'At', 'Operation', 'Amount', 'Balance after', 'Transaction', 'Reverses'],
    entries.map((entry) => [
      String(entry.seq),
      time(entry.at),
      operationText(entry),
      money(entry.amount, currency),
      money(entry.balanceAfter, currency),
      findLink(entry.transactionId),
      findLink(entry.reverseTransactionId),
    ]),
  );

const openRound = (session: Session, playerId: string, roundId: string): void => {
  const body = element('div', { class: 'dialog-body' });
  changeFilters({ player: playerId, round: roundId });
  const dialog = openDialog('Round', [body]);
  dialog.addEventListener('close', () => changeFilters({ player: '', round: '' }));
  const path = `/v1/players/${encodeURIComponent(playerId)}/rounds/${encodeURIComponent(roundId)}`;
  void show(body, async () => {
    const round = await session.ask<WalletAnswer<'getRound'>>(path);
    return element(
      'div',
      {},
      facts([
        ['Status', state(round.status === 'open' ? 'warn' : 'good', round.status)],
        ['Round', findLink(round.roundId)],
        ['Player', playerLink(round.playerId)],
        ['Game', code(round.gameCode)],
        ['Stake', money(round.stake, round.currency)],
        ['Result', money(round.result, round.currency)],
        ['Opened', time(round.openedAt)],
        ['Closed', time(round.closedAt)],
      ]),
      element('h3', {}, 'History'),
      history(round),
      ...(round.page.has_more ? [element('p', {}, `The first ${round.page.limit} entries.`)] : []),
      element(
        'p',
        {},
        element('a', { href: addressOf('evidence', { player: playerId, round: roundId }) }, 'Evidence'),
      ),
    );
  });
};

const lookUp = (session: Session): HTMLElement => {
  const player = element('input', { maxlength: '255', autocomplete: 'off' });
  const round = element('input', { required: '', maxlength: '255', autocomplete: 'off' });
  const submit = element('button', { type: 'submit', class: 'quiet' }, 'Open round');
  const form = element(
    'form',
    { class: 'filters' },
    field('Player, if known', player),
    field('Round id', round),
    submit,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // Rounds of different players may have the same id: the search shows all.
    if (player.value === '') location.hash = addressOf('find', { q: round.value });
    else openRound(session, player.value, round.value);
  });
  return form;
};

/** Rounds that stay open, and the history of any round. */
export const roundsView = (session: Session): HTMLElement => {
  const list = element('div', { class: 'list' });
  const load = (): void => {
    const query = new URLSearchParams({ ...filters.values(), page: String(filters.page()), limit: '25' });
    void show(list, async () => {
      const found = await session.ask<WalletAnswer<'listRounds'>>(`/v1/rounds?${query}`);
      if (found.rounds.length === 0) return nothing('No round has been open that long.');
      const rows = found.rounds.map(({ playerId, roundId, ...round }) => [
        button(roundId, 'link', () => openRound(session, playerId, roundId), `${playerId} ${roundId}`),
        playerLink(playerId),
        code(round.gameCode),
        amount(round.stake, round.currency),
        amount(round.result, round.currency),
        time(round.openedAt),
      ]);
      const shown = table('Open rounds', ['Round', 'Player', 'Game', 'Stake', 'Result', 'Opened'], rows);
      return element('div', {}, shown, pager(found.page, filters.go));
    });
  };
  const filters = createFilters({ olderThan: ['Open for more than', choice(ages)] }, load);
  load();
  const [player, round] = ['player', 'round'].map((name) => place().filters.get(name));
  if (player && round) openRound(session, player, round);
  return element(
    'section',
    { 'aria-label': 'Rounds' },
    filters.form,
    list,
    element('h2', {}, 'Find a round'),
    lookUp(session),
  );
};
