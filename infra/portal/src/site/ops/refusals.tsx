import type { Wallet, WalletAnswer } from './api.ts';
import { Loaded } from './content.tsx';
import { Filters, playerFilter, type Filter } from './filters.tsx';
import { guideAddress } from './health-text.ts';
import { findLink, playerLink, roundLink } from './links.tsx';
import { List } from './list.tsx';
import { button, money, nothing, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { causeText, causes } from './refusal-text.ts';
import { Table } from './table.tsx';

const what: Columns<Wallet['Refusal']> = {
  At: ({ at }) => time(at),
  Callback: ({ callback }) => callback,
  Amount: ({ amount, currency }) => (amount === null ? null : money(amount, currency ?? '')),
  Cause: (refusal) => (
    <span class="what" title={refusal.status}>
      {causeText(refusal)}
    </span>
  ),
};

const player: Columns<Wallet['Refusal']> = { Player: ({ playerId }) => playerLink(playerId) };

const round: Columns<Wallet['Refusal']> = {
  Round: ({ playerId, roundId }) => (playerId === null ? findLink(roundId) : roundLink(playerId, roundId)),
};

const transaction: Columns<Wallet['Refusal']> = {
  Transaction: ({ transactionId }) => findLink(transactionId),
};

/** What is shown of a refused callback of any player. */
export const refusalColumns = { ...what, ...player, ...round, ...transaction };

/** The newest refused callbacks of a player, or of one round of a player. */
export const NewestRefusals = ({ playerId, roundId }: { playerId: string; roundId?: string }) => {
  const ofPlayer = roundId === undefined;
  const query = { playerId, ...(!ofPlayer && { roundId }), limit: '5' };
  const all = ofPlayer ? addressOf('refusals', { playerId }) : addressOf('find', { q: roundId });
  const columns = { ...what, ...(ofPlayer && round), ...transaction };
  return (
    <Loaded path={`/v1/refusals?${new URLSearchParams(query)}`} class="list">
      {({ refusals, page }: WalletAnswer<'listRefusals'>) =>
        refusals.length === 0 ? (
          nothing('No callback was refused.')
        ) : (
          <>
            <Table caption="Refused callbacks" columns={columns} rows={refusals} />
            {page.has_more && (
              <p class="links">
                <a href={all}>All refused callbacks</a>
              </p>
            )}
          </>
        )
      }
    </Loaded>
  );
};

const filters: readonly Filter[] = [
  playerFilter,
  { name: 'cause', label: 'Cause', options: [['', 'Any'], ...Object.entries(causes)] },
];

/** All refused callbacks, the newest first. */
export const View = () => (
  <>
    <p class="soft intro">
      Callbacks of the game server that were refused, and why. Search for one by its transaction or round with
      Find. <a href={guideAddress('docs/wallet-operator.md#when-callbacks-are-refused')}>Guide</a>
    </p>
    <Filters filters={filters}>{button('Show', undefined, 'quiet')}</Filters>
    <div class="dense">
      <List
        caption="Refused callbacks"
        path="/v1/refusals"
        filters={filters}
        columns={refusalColumns}
        keyOf={({ refusalId }) => refusalId}
        empty="No callback was refused."
      />
    </div>
  </>
);
