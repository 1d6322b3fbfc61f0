import type { Wallet } from './api.ts';
import { ContentView, useContent } from './content.tsx';
import { download } from '../element.ts';
import { Filters, filterValues, type Filter } from './filters.tsx';
import { guideAddress } from './text.ts';
import { List } from './list.tsx';
import { readTotals } from './money-totals.ts';
import { Choice, button, money, stateBadge, type Columns } from './parts.tsx';
import { changeFilters } from './place.ts';
import { useSession } from './session.ts';

const columns = (isByGame: boolean): Columns<Wallet['SummaryLine']> => ({
  // The day of a total is empty.
  Day: ({ day }) => (day === '' ? <strong>Total</strong> : <time dateTime={day}>{day}</time>),
  ...(isByGame && {
    Game: ({ day, gameCode }: Wallet['SummaryLine']) => gameCode ?? (day === '' ? null : 'no game'),
  }),
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
  'Day is': ({ day, complete }) => {
    if (day === '') return null;
    return complete ? stateBadge('good', 'complete') : stateBadge('plain', 'incomplete');
  },
});

interface Days {
  from: string;
  to: string;
}

/** A range of days in UTC, as in the summary. */
const daysOf = (from: Date, to: Date): Days => ({
  from: from.toISOString().slice(0, 10),
  to: to.toISOString().slice(0, 10),
});

/** Common ranges of days, by name. */
const presets = (): Record<string, Days> => {
  const now = new Date();
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const today = new Date(Date.UTC(year, month, date));
  const yesterday = new Date(Date.UTC(year, month, date - 1));
  const endOfLastMonth = new Date(Date.UTC(year, month, 0));
  return {
    'Last 7 days': daysOf(new Date(Date.UTC(year, month, date - 6)), today),
    Today: daysOf(today, today),
    Yesterday: daysOf(yesterday, yesterday),
    'This month': daysOf(new Date(Date.UTC(year, month, 1)), today),
    'Last month': daysOf(new Date(Date.UTC(year, month - 1, 1)), endOfLastMonth),
  };
};

const otherDays = 'Other days';

/** Select element for common ranges. The address contains the dates, so that a shared link shows the same days. */
const Preset = ({ days, selected }: { days: Record<string, Days>; selected: string }) => (
  <Choice
    label="Days (UTC)"
    options={[...new Set([...Object.keys(days), selected])].map((name) => [name, name])}
    value={selected}
    onChange={({ currentTarget: { value } }) => changeFilters({ ...days[value], page: '' })}
  />
);

const groupings = [
  ['currency', 'Currency'],
  ['game', 'Game and currency'],
] as const;

/** The account summary by currency or by game; by default for the last week. */
export const View = () => {
  const session = useSession();
  const days = presets();
  const defaultSpan = days['Last 7 days'];
  const filters: readonly Filter[] = [
    { name: 'from', label: 'First day', type: 'date', defaultValue: defaultSpan?.from ?? '', isFolded: true },
    { name: 'to', label: 'Last day', type: 'date', defaultValue: defaultSpan?.to ?? '', isFolded: true },
    { name: 'by', label: 'Group by', options: groupings },
  ];
  const values = filterValues(filters);
  const isChosen = ([, { from, to }]: [string, Days]): boolean =>
    from === values['from'] && to === values['to'];
  const [selected = otherDays] = Object.entries(days).find(isChosen) ?? [];
  const downloadResult = useContent();
  const save = () =>
    downloadResult.show(async () => {
      const file = await session.file(`/v1/audit/summary.csv?${new URLSearchParams(values)}`);
      download(`summary-${values['from']}-${values['to']}.csv`, file);
      return 'The file contains all rows of these days.';
    });
  return (
    <>
      <p class="soft intro">
        Balances of all players at the start and the end of each day, and the changes. Promotional wins are
        part of the wins; revenue is bets minus wins and reversals.{' '}
        <a href={guideAddress('docs/wallet-operator.md#account-summary')}>Guide</a>
      </p>
      <Filters
        filters={filters}
        first={<Preset days={days} selected={selected} />}
        folded={{ title: otherDays, isOpen: selected === otherDays }}
      >
        {button('Download CSV', save, 'quiet')}
      </Filters>
      <ContentView content={downloadResult} role="status" />
      <div class="dense">
        <List
          caption="Account summary"
          path="/v1/audit/summary"
          filters={filters}
          limit={50}
          columns={columns(values['by'] === 'game')}
          readTotals={() => readTotals(session, values)}
          empty="No money moved on these days, and no player has any."
          isByTime={false}
          onRows={downloadResult.clear}
        />
      </div>
    </>
  );
};
