import type { Wallet, WalletResponse } from './api.ts';
import { Loaded } from './content.tsx';
import {
  Dialog,
  Input,
  statusBadge,
  button,
  code,
  formValues,
  facts,
  money,
  opener,
  time,
  type Columns,
} from './parts.tsx';
import { Filters, type Filter } from './filters.tsx';
import { findLink, playerLink } from './links.tsx';
import { List, Table } from './list.tsx';
import { addressOf, changeFilters, pathOfRound, place } from './place.ts';
import { NewestRefusals } from './refusals.tsx';
import { operationText } from './text.ts';

const ages = [
  ['3600', '1 hour'],
  ['900', '15 minutes'],
  ['21600', '6 hours'],
  ['86400', '1 day'],
  ['0', 'a moment'],
] as const;

const filters: readonly Filter[] = [{ name: 'olderThan', label: 'Open for more than', options: ages }];

/** Opens a round in a dialog; the address contains it. */
const open = (player: string, round: string): void => changeFilters({ player, round });

const amount = (sum: string | null, currency: string) => (sum === null ? null : money(sum, currency));

const columns = {
  Round: ({ playerId, roundId }) => opener(roundId, `${playerId} ${roundId}`, () => open(playerId, roundId)),
  Player: ({ playerId }) => playerLink(playerId),
  Game: ({ gameCode }) => code(gameCode),
  Stake: ({ stake, currency }) => amount(stake, currency),
  Result: ({ result, currency }) => amount(result, currency),
  Opened: ({ openedAt }) => time(openedAt),
} satisfies Columns<Wallet['Round']>;

const entryColumns = (currency: string): Columns<Wallet['RoundWithEntries']['entries'][number]> => ({
  'No.': ({ seq }) => String(seq),
  At: ({ at }) => time(at),
  Operation: operationText,
  Amount: (entry) => money(entry.amount, currency),
  'Balance after': ({ balanceAfter }) => money(balanceAfter, currency),
  Transaction: ({ transactionId }) => findLink(transactionId),
  Reverses: ({ reverseTransactionId }) => findLink(reverseTransactionId),
});

const historyOf = (round: WalletResponse<'getRound'>) => (
  <>
    {facts({
      Status: statusBadge(round.status),
      Round: findLink(round.roundId),
      Player: playerLink(round.playerId),
      Game: code(round.gameCode),
      Stake: money(round.stake, round.currency),
      Result: money(round.result, round.currency),
      Opened: time(round.openedAt),
      Closed: time(round.closedAt),
    })}
    <h3>History</h3>
    <div class="list">
      <Table caption="Entries of the round" columns={entryColumns(round.currency)} rows={round.entries} />
    </div>
    {round.page.has_more && <p>The first {round.page.limit} entries.</p>}
    <p>
      <a href={addressOf('evidence', { player: round.playerId, round: round.roundId })}>Evidence</a>
    </p>
  </>
);

const RoundDialog = ({ player, round }: { player: string; round: string }) => (
  <Dialog title="Round" onClose={() => open('', '')}>
    <Loaded path={pathOfRound(player, round)} class="dialog-body">
      {historyOf}
    </Loaded>
    <h3>Refused callbacks</h3>
    <NewestRefusals playerId={player} roundId={round} />
  </Dialog>
);

const lookUp = ({ player = '', round = '' }: Record<string, string>): void => {
  // Rounds of different players may have the same id; the search shows all of them.
  if (player === '') location.hash = addressOf('find', { q: round });
  else open(player, round);
};

/** Rounds that stay open, and the history of any round. */
export const View = () => {
  const [player, round] = ['player', 'round'].map((name) => place.value.filters.get(name));
  return (
    <>
      <Filters filters={filters} />
      <List
        caption="Open rounds"
        path="/v1/rounds"
        filters={filters}
        columns={columns}
        keyOf={({ playerId, roundId }) => `${playerId} ${roundId}`}
        empty="No round has been open that long."
      />
      <h2>Find a round</h2>
      <form class="filters" onSubmit={(event) => lookUp(formValues(event))}>
        <Input label="Player, if known" name="player" maxLength={255} />
        <Input label="Round id" name="round" required maxLength={255} />
        {button('Open round', undefined, 'quiet')}
      </form>
      {player && round && <RoundDialog key={`${player} ${round}`} player={player} round={round} />}
    </>
  );
};
