import type { Wallet, WalletAnswer } from './api.ts';
import { Shown, useLoaded } from './content.tsx';
import { Filters, playerFilter, type Filter } from './filters.tsx';
import { guideAddress } from './health-text.ts';
import { findLink, playerLink, roundLink } from './links.tsx';
import { List } from './list.tsx';
import { View, code, money, nothing, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { causeText, causes } from './refusal-text.ts';
import { useSession } from './session.ts';
import { Table } from './table.tsx';

/** What is shown of a refused callback. */
export const refusalColumns: Columns<Wallet['Refusal']> = {
  At: ({ at }) => time(at),
  Callback: ({ callback }) => callback,
  Amount: ({ amount, currency }) => (amount === null ? null : money(amount, currency ?? '')),
  Cause: (refusal) => <span class="what">{causeText(refusal)}</span>,
  Player: ({ playerId }) => playerLink(playerId),
  Round: ({ playerId, roundId }) => (playerId === null ? findLink(roundId) : roundLink(playerId, roundId)),
  Transaction: ({ transactionId }) => findLink(transactionId),
  Answer: ({ status }) => code(status),
};

type Answer = WalletAnswer<'listRefusals'>;

/** The newest refused callbacks of a player, or of one round of a player. */
export const NewestRefusals = ({ playerId, roundId }: { playerId: string; roundId?: string }) => {
  const session = useSession();
  const query = { playerId, ...(roundId !== undefined && { roundId }), limit: '5' };
  const path = `/v1/refusals?${new URLSearchParams(query)}`;
  const newest = useLoaded(async () => {
    const { refusals, page } = await session.ask<Answer>(path);
    if (refusals.length === 0) return nothing('No callback was refused.');
    const all =
      roundId === undefined ? addressOf('refusals', { playerId }) : addressOf('find', { q: roundId });
    return (
      <>
        <Table caption="Refused callbacks" columns={refusalColumns} rows={refusals} />
        {page.has_more && (
          <p class="links">
            <a href={all}>All refused callbacks</a>
          </p>
        )}
      </>
    );
  }, [path]);
  return <Shown content={newest} class="list" />;
};

const filters: readonly Filter[] = [
  playerFilter,
  { name: 'cause', label: 'Cause', options: [['', 'Any'], ...Object.entries(causes)] },
];

/** All refused callbacks, the newest first. */
export const RefusalsView = () => (
  <View name="Refusals">
    <p class="soft intro">
      Callbacks of the game server that were refused, and why. Search for one by its transaction or round with
      Find. <a href={guideAddress('docs/wallet-operator.md#when-callbacks-are-refused')}>Guide</a>
    </p>
    <Filters filters={filters} />
    <List
      caption="Refused callbacks"
      path="/v1/refusals"
      filters={filters}
      rows={({ refusals }: Answer) => refusals}
      columns={refusalColumns}
      keyOf={({ refusalId }) => refusalId}
      empty="No callback was refused."
    />
  </View>
);
