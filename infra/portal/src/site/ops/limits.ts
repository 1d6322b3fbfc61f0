import { element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { createFilters, showButton } from './filters.ts';
import { guideAddress } from './health-text.ts';
import { nameOfLimit, type LimitSlot } from './limit-name.ts';
import { facts, money, nothing, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import type { Session } from './session.ts';
import { when } from './time.ts';

const valueOf = ({ kind }: LimitSlot, value: string | null, currency: string): HTMLElement => {
  if (value === null) return element('span', {}, 'no limit');
  return money(value, kind === 'session' ? 'min' : currency);
};

const inForce = ({ currency, lowest, pending, timeZone }: Wallet['Limits']): Node => {
  if (lowest.length + pending.length === 0) return nothing('This player has no limits.');
  const used = lowest.map((limit) => [
    nameOfLimit(limit),
    valueOf(limit, limit.limit, currency),
    valueOf(limit, limit.used, currency),
    valueOf(limit, limit.remaining, currency),
    time(limit.since),
  ]);
  const later = pending.map((one) => [
    nameOfLimit(one),
    valueOf(one, one.limit, currency),
    one.setBy,
    time(one.effectiveAt),
  ]);
  const list = (shown: Node) => element('div', { class: 'list' }, shown);
  return element(
    'div',
    {},
    list(table('Limits in force', ['Limit', 'Allowed', 'Used', 'Left', 'Since'], used)),
    element('p', { class: 'soft' }, `Months begin at midnight in ${timeZone}.`),
    pending.length === 0 ? null : element('h2', {}, 'Pending'),
    pending.length === 0
      ? null
      : list(table('Pending changes', ['Limit', 'Allowed', 'Set by', 'From'], later)),
  );
};

const playedIn = ({ currency, session }: Wallet['PlaySession']): Node => {
  if (session === null) return nothing('This player has never played.');
  const { isOver, minutes, startedAt, lastBetAt, wagered, won, result } = session;
  return facts([
    ['State', isOver ? state('plain', 'over') : state('good', 'playing')],
    ['Time', `${minutes} min`],
    ['First bet', time(startedAt)],
    ['Last bet', time(lastBetAt)],
    ['Bets', money(wagered, currency)],
    ['Wins', money(won, currency)],
    ['Result', money(result, currency)],
  ]);
};

const changeRow = (change: Wallet['LimitChange'], currency: string) => [
  time(change.changedAt),
  nameOfLimit(change),
  valueOf(change, change.limit, currency),
  `${change.setBy} (${change.changedBy})`,
  change.cancelledAt === null
    ? time(change.effectiveAt)
    : state('plain', `cancelled ${when(change.cancelledAt)}`),
];

/** The limits of one player with what is used of them, the newest session of play, and the changes. */
export const limitsView = (session: Session): HTMLElement => {
  const [limits, play, changes] = [element('div', {}), element('div', {}), element('div', { class: 'list' })];
  const found = element(
    'div',
    {},
    limits,
    element('h2', {}, 'Session of play'),
    play,
    element('h2', {}, 'Changes'),
    changes,
  );
  const load = (): void => {
    const { playerId } = filters.values();
    found.hidden = playerId === undefined;
    if (playerId === undefined) return;
    const path = `/v1/players/${encodeURIComponent(playerId)}`;
    const askLimits = () => session.ask<WalletAnswer<'getLimits'>>(`${path}/limits`);
    void show(limits, async () => inForce(await askLimits()));
    void show(play, async () =>
      playedIn(await session.ask<WalletAnswer<'getPlaySession'>>(`${path}/session`)),
    );
    void show(changes, async () => {
      const query = new URLSearchParams({ page: String(filters.page()), limit: '25' });
      const history = await session.ask<WalletAnswer<'listLimitChanges'>>(`${path}/limits/history?${query}`);
      if (history.changes.length === 0) return nothing('The limits were never changed.');
      const { currency } = await askLimits();
      const rows = history.changes.map((change) => changeRow(change, currency));
      const shown = table('Changes of limits', ['At', 'Limit', 'Allowed', 'Set by', 'From'], rows);
      return element('div', {}, shown, pager(history.page, filters.go));
    });
  };
  const player = element('input', { maxlength: '255', autocomplete: 'off' });
  const filters = createFilters({ playerId: ['Player', player] }, load, showButton());
  load();
  return element(
    'section',
    { 'aria-label': 'Limits' },
    element(
      'p',
      { class: 'soft intro' },
      'Limits are shown here and set with the API. ',
      element('a', { href: guideAddress('docs/wallet-operator.md#limits-of-players') }, 'Guide'),
    ),
    filters.form,
    found,
  );
};
