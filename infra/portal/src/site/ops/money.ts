import { button, element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { download } from './download.ts';
import { createFilters } from './filters.ts';
import { guideAddress } from './health-text.ts';
import { choice, money, nothing, show, state, table } from './parts.ts';
import { pager } from './pages.ts';
import type { Session } from './session.ts';

const sums = [
  ['Opening', 'opening'],
  ['Bets', 'bets'],
  ['Wins', 'wins'],
  ['Promotional', 'promotionalWins'],
  ['Reversals', 'reversals'],
  ['Revenue', 'grossRevenue'],
  ['Deposits', 'deposits'],
  ['Withdrawals', 'withdrawals'],
  ['Adjustments', 'adjustments'],
  ['Closing', 'closing'],
] as const;

const row = (line: Wallet['SummaryLine'], isByGame: boolean) => [
  element('time', { datetime: line.day }, line.day),
  ...(isByGame ? [line.gameCode ?? 'no game'] : []),
  line.currency,
  ...sums.map(([, field]) => money(line[field])),
  line.complete ? state('good', 'complete') : state('plain', 'incomplete'),
];

const columns = (isByGame: boolean) => [
  'Day',
  ...(isByGame ? ['Game'] : []),
  'Currency',
  ...sums.map(([name]) => name),
  'Day is',
];

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const dayInput = (day: string) => {
  const input = element('input', { type: 'date', required: '' });
  input.value = day;
  return input;
};

/** The account summary of days, by currency or by game, of the last week unless the address says otherwise. */
export const moneyView = (session: Session): HTMLElement => {
  const [list, saved] = [element('div', { class: 'list' }), element('p', { role: 'status' })];
  const load = (): void => {
    saved.replaceChildren();
    const query = new URLSearchParams({ ...filters.values(), page: String(filters.page()), limit: '50' });
    void show(list, async () => {
      const { summary, page } = await session.ask<WalletAnswer<'readSummary'>>(`/v1/audit/summary?${query}`);
      if (summary.length === 0) return nothing('No money moved on these days, and no player has any.');
      const isByGame = filters.values()['by'] === 'game';
      const rows = summary.map((line) => row(line, isByGame));
      const shown = table('Account summary', columns(isByGame), rows);
      return element('div', { class: 'dense' }, shown, pager(page, filters.go, ['Previous', 'Next']));
    });
  };
  const save = button('Download CSV', 'quiet', () => {
    void show(saved, async () => {
      const values = filters.values();
      const file = await session.file(`/v1/audit/summary.csv?${new URLSearchParams(values)}`);
      download(`summary-${values['from']}-${values['to']}.csv`, file);
      return 'The file has all rows of these days.';
    });
  });
  const by = choice([
    ['currency', 'Currency'],
    ['game', 'Game and currency'],
  ]);
  const filters = createFilters(
    {
      from: ['First day (UTC)', dayInput(dayBefore(6))],
      to: ['Last day (UTC)', dayInput(dayBefore(0))],
      by: ['A row for each', by],
    },
    load,
    save,
  );
  load();
  return element(
    'section',
    { 'aria-label': 'Money' },
    element(
      'p',
      { class: 'soft intro' },
      'What players had at the beginning and at the end of each day, and what changed it. Promotional wins are a part of the wins; revenue is bets less wins and reversals. ',
      element('a', { href: guideAddress('docs/wallet-operator.md#account-summary') }, 'Guide'),
    ),
    filters.form,
    saved,
    list,
  );
};
