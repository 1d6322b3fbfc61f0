import type { Wallet, WalletAnswer } from './api.ts';
import { Shown, useContent } from './content.tsx';
import { download } from './download.ts';
import { Filters, filterValues, type Filter } from './filters.tsx';
import { guideAddress } from './health-text.ts';
import { List } from './list.tsx';
import { View, button, money, state, type Columns } from './parts.tsx';
import { useSession } from './session.ts';

const columns = (isByGame: boolean): Columns<Wallet['SummaryLine']> => ({
  Day: ({ day }) => <time dateTime={day}>{day}</time>,
  ...(isByGame && { Game: ({ gameCode }: Wallet['SummaryLine']) => gameCode ?? 'no game' }),
  Currency: ({ currency }) => currency,
  Opening: ({ opening }) => money(opening),
  Bets: ({ bets }) => money(bets),
  Wins: ({ wins }) => money(wins),
  Promotional: ({ promotionalWins }) => money(promotionalWins),
  Reversals: ({ reversals }) => money(reversals),
  Revenue: ({ grossRevenue }) => money(grossRevenue),
  Deposits: ({ deposits }) => money(deposits),
  Withdrawals: ({ withdrawals }) => money(withdrawals),
  Adjustments: ({ adjustments }) => money(adjustments),
  Closing: ({ closing }) => money(closing),
  'Day is': ({ complete }) => (complete ? state('good', 'complete') : state('plain', 'incomplete')),
});

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const groupings = [
  ['currency', 'Currency'],
  ['game', 'Game and currency'],
] as const;

/** The account summary of days, by currency or by game, of the last week unless the address says otherwise. */
export const MoneyView = () => {
  const session = useSession();
  const filters: readonly Filter[] = [
    { name: 'from', label: 'First day (UTC)', type: 'date', initial: dayBefore(6) },
    { name: 'to', label: 'Last day (UTC)', type: 'date', initial: dayBefore(0) },
    { name: 'by', label: 'A row for each', options: groupings },
  ];
  const values = filterValues(filters);
  const saved = useContent();
  const save = () =>
    saved.show(async () => {
      const file = await session.file(`/v1/audit/summary.csv?${new URLSearchParams(values)}`);
      download(`summary-${values['from']}-${values['to']}.csv`, file);
      return 'The file has all rows of these days.';
    });
  return (
    <View name="Money">
      <p class="soft intro">
        What players had at the beginning and at the end of each day, and what changed it. Promotional wins
        are a part of the wins; revenue is bets less wins and reversals.{' '}
        <a href={guideAddress('docs/wallet-operator.md#account-summary')}>Guide</a>
      </p>
      <Filters filters={filters}>{button('Download CSV', save, 'quiet')}</Filters>
      <Shown content={saved} role="status" />
      <div class="dense">
        <List
          caption="Account summary"
          path="/v1/audit/summary"
          filters={filters}
          limit={50}
          rows={({ summary }: WalletAnswer<'readSummary'>) => summary}
          columns={columns(values['by'] === 'game')}
          empty="No money moved on these days, and no player has any."
          isByTime={false}
          onRows={saved.clear}
        />
      </div>
    </View>
  );
};
