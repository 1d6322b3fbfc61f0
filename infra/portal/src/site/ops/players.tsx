import type { Wallet } from './api.ts';
import { Loaded } from './content.tsx';
import { PlayerSelection } from './filters.tsx';
import { findLink, roundLink } from './links.tsx';
import { List } from './list.tsx';
import { facts, statusBadge, money, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { NewestRefusals } from './refusals.tsx';
import { useSession } from './session.ts';
import { operationText } from './text.ts';

const exclusion = ({ excluded, excludedUntil }: Wallet['Player']): string => {
  if (!excluded) return 'no';
  return excludedUntil === null ? 'without end' : `until ${excludedUntil}`;
};

const columns = (playerId: string): Columns<Wallet['Entry']> => ({
  'No.': ({ seq }) => String(seq),
  At: ({ at }) => time(at),
  Operation: operationText,
  Amount: ({ amount, currency }) => money(amount, currency),
  'Balance after': ({ balanceAfter, currency }) => money(balanceAfter, currency),
  Round: ({ roundId }) => roundLink(playerId, roundId),
  Transaction: ({ transactionId }) => findLink(transactionId),
});

/** Balance and status, which need the scope `wallet:admin`. */
const playerFacts = (player: Wallet['Player']) =>
  facts({
    Status: statusBadge(player.status),
    Balance: money(player.balance, player.currency),
    Excluded: exclusion(player),
    Added: time(player.createdAt),
  });

/** One player: balance, status, refused callbacks, and entries, newest first. */
const Player = ({ playerId }: { playerId: string }) => {
  const isAdmin = useSession().may('wallet:admin');
  const path = `/v1/players/${encodeURIComponent(playerId)}`;
  return (
    <>
      {isAdmin && <Loaded path={path}>{playerFacts}</Loaded>}
      <p class="links">
        <a href={addressOf('limits', { playerId })}>Limits</a>
        {isAdmin && <a href={addressOf('ledger', { playerId })}>Audit log</a>}
      </p>
      <h2>Refused callbacks</h2>
      <NewestRefusals playerId={playerId} />
      <h2>Entries</h2>
      <List
        caption="Entries"
        path={`${path}/entries?sort=-seq`}
        columns={columns(playerId)}
        empty="This player has no entries."
      />
    </>
  );
};

/** The player in the filter. */
export const View = () => <PlayerSelection>{(playerId) => <Player playerId={playerId} />}</PlayerSelection>;
