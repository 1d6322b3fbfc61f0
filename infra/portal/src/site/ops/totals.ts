import { element } from '../element.ts';
import { field, money, nothing, show, table } from './parts.ts';
import { changeFilters, place } from './place.ts';
import type { Session } from './session.ts';

interface Total {
  day: string;
  currency: string;
  stakes: string;
  wins: string;
  reversals: string;
  grossRevenue: string;
  deposits: string;
  withdrawals: string;
}

const columns = ['Day', 'Bets', 'Wins', 'Reversals', 'Gross revenue', 'Deposits', 'Withdrawals'];

const row = ({ day, currency, ...sums }: Total) => [
  element('span', {}, `${day} ${currency}`),
  ...[sums.stakes, sums.wins, sums.reversals, sums.grossRevenue, sums.deposits, sums.withdrawals].map((sum) =>
    money(sum, currency),
  ),
];

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** Sums of the ledger by day and currency, of the last week unless the address says otherwise. */
export const totalsSection = (session: Session): HTMLElement => {
  const { filters } = place();
  const day = (name: string, value: string) =>
    element('input', { type: 'date', required: '', value: filters.get(name) ?? value });
  const [from, to] = [day('from', dayBefore(6)), day('to', dayBefore(0))];
  const list = element('div', { class: 'list' });
  const load = (): void => {
    void show(list, async () => {
      const query = new URLSearchParams({ from: from.value, to: to.value });
      const { totals } = await session.ask<{ totals: Total[] }>(`/v1/audit/totals?${query}`);
      return totals.length === 0
        ? nothing('No money moved on these days.')
        : table('Totals', columns, totals.toReversed().map(row));
    });
  };
  const form = element(
    'form',
    { class: 'filters' },
    field('First day (UTC)', from),
    field('Last day (UTC)', to),
  );
  form.addEventListener('change', () => {
    changeFilters({ from: from.value, to: to.value });
    load();
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  load();
  return element('div', {}, element('h2', {}, 'Totals by day and currency'), form, list);
};
