import type { Wallet, WalletAnswer } from './api.ts';
import { Shown, useLoaded } from './content.tsx';
import { Filters, ShowButton, filterValues, playerFilter } from './filters.tsx';
import { findLink, roundLink } from './links.tsx';
import { List } from './list.tsx';
import { Facts, View, money, state, time, type Columns } from './parts.tsx';
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
const About = ({ path }: { path: string }) => {
  const session = useSession();
  const about = useLoaded(async () => {
    const player = await session.ask<WalletAnswer<'getPlayer'>>(path);
    return (
      <Facts
        pairs={[
          ['Status', state(player.status === 'active' ? 'good' : 'bad', player.status)],
          ['Balance', money(player.balance, player.currency)],
          ['Excluded', exclusion(player)],
          ['Added', time(player.createdAt)],
        ]}
      />
    );
  }, [path]);
  return <Shown content={about} />;
};

/** One player: balance, status, refused callbacks, and the entries with the newest first. */
const Player = ({ playerId }: { playerId: string }) => {
  const isAdmin = useSession().may('wallet:admin');
  const path = `/v1/players/${encodeURIComponent(playerId)}`;
  return (
    <>
      {isAdmin && <About path={path} />}
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
        rows={({ entries }: WalletAnswer<'listEntries'>) => entries}
        columns={columns(playerId)}
        empty="This player has no entries."
      />
    </>
  );
};

/** The player that the filter names. */
export const PlayersView = () => {
  const { playerId } = filterValues([playerFilter]);
  return (
    <View name="Players">
      <Filters filters={[playerFilter]}>
        <ShowButton />
      </Filters>
      {playerId !== undefined && <Player playerId={playerId} />}
    </View>
  );
};
