import type { Wallet, WalletResponse } from './api.ts';
import { Loaded } from './content.tsx';
import { Filters, playerFilter, type Filter } from './filters.tsx';
import { findLink, playerLink, roundLink } from './links.tsx';
import { List, Table } from './list.tsx';
import { button, money, emptyNote, time, type Columns } from './parts.tsx';
import { addressOf } from './place.ts';
import { guideAddress, limitName, words } from './text.ts';

type Refusal = Wallet['Refusal'];

/** Texts for the causes of refused callbacks. */
export const causes: Readonly<Partial<Record<Refusal['cause'], string>>> = {
  no_money: 'Not enough money',
  limit_reached: 'A limit of the player is reached',
  player_unknown: 'The player is unknown',
  player_disabled: 'The player is disabled',
  player_excluded: 'The player is self-excluded',
  session_missing: 'The session is missing',
  session_unknown: 'The session is unknown, or of another player',
  session_of_another_game: 'The session is of another game',
  session_expired: 'The session has expired',
  game_unavailable: 'The game is unknown or disabled',
  currency_differs: 'The player has another currency',
  parameters_differ: 'The transaction id was used with other parameters',
  tombstoned: 'A rollback has used up the transaction id',
  round_closed: 'The round is closed',
  round_unknown: 'The round is unknown',
  target_is_no_debit: 'The transaction to reverse is not a bet',
  target_of_another_player: 'The bet to reverse is of another player',
  reverses_itself: 'The rollback names itself',
  balance_overflow: 'The balance would be too large',
  after_close: 'The round of the bet is closed',
  wrong_syntax: 'Wrong syntax',
};

const syntaxText = (field: string | null): string =>
  field === null ? 'the body is not a JSON object' : `${field} is missing or invalid`;

/** The cause, with the limit and the remaining amount, or with the invalid field. */
const causeText = ({ cause, limit, balance, currency, field }: Refusal): string => {
  const text = causes[cause] ?? words(cause);
  const amount = (value: string): string =>
    `${value} ${limit?.kind === 'session' ? 'min' : (currency ?? '')}`.trim();
  if (limit !== null) return `${limitName(limit)}: ${amount(limit.remaining)} left of ${amount(limit.limit)}`;
  if (cause === 'no_money' && balance !== null) return `${text}: ${amount(balance)} left`;
  return cause === 'wrong_syntax' ? `${text}: ${syntaxText(field)}` : text;
};

/** Columns for refused callbacks of all players. */
export const refusalColumns = {
  At: ({ at }) => time(at),
  Callback: ({ callback }) => callback,
  Amount: ({ amount, currency }) => (amount === null ? null : money(amount, currency ?? '')),
  Cause: (refusal) => (
    <span class="what" title={refusal.status}>
      {causeText(refusal)}
    </span>
  ),
  Player: ({ playerId }) => playerLink(playerId),
  Round: ({ playerId, roundId }) => (playerId === null ? findLink(roundId) : roundLink(playerId, roundId)),
  Transaction: ({ transactionId }) => findLink(transactionId),
} satisfies Columns<Refusal>;

const { Player: _player, ...columnsPlayerSelection } = refusalColumns;
const { Round: _round, ...columnsOfRound } = columnsPlayerSelection;

/** The newest refused callbacks of a player, or of one round of a player. */
export const NewestRefusals = ({ playerId, roundId }: { playerId: string; roundId?: string }) => {
  const query = { playerId, ...(roundId !== undefined && { roundId }), limit: '5' };
  const allAddress = roundId ? addressOf('find', { q: roundId }) : addressOf('refusals', { playerId });
  const columns = roundId ? columnsOfRound : columnsPlayerSelection;
  return (
    <Loaded path={`/v1/refusals?${new URLSearchParams(query)}`} class="list">
      {({ refusals, page }: WalletResponse<'listRefusals'>) =>
        refusals.length === 0 ? (
          emptyNote('No callback was refused.')
        ) : (
          <>
            <Table caption="Refused callbacks" columns={columns} rows={refusals} />
            {page.has_more && (
              <p class="links">
                <a href={allAddress}>All refused callbacks</a>
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

/** All refused callbacks, newest first. */
export const View = () => (
  <>
    <p class="soft intro">
      Callbacks of the game server that were refused, with the cause. To search for one by its transaction or
      round, use Find. <a href={guideAddress('docs/wallet-operator.md#when-callbacks-are-refused')}>Guide</a>
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
