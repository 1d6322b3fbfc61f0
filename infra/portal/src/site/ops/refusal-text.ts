import type { Wallet } from './api.ts';
import { nameOfLimit } from './limit-name.ts';
import { words } from './text.ts';

type Refusal = Wallet['Refusal'];

/** Why a callback is refused, in the words of people. */
export const causes: Readonly<Partial<Record<Refusal['cause'], string>>> = {
  no_money: 'Not enough money',
  limit_reached: 'A limit of the player',
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
  target_is_no_debit: 'The transaction to reverse is no bet',
  target_of_another_player: 'The bet to reverse is of another player',
  reverses_itself: 'The rollback names itself',
  balance_overflow: 'The balance would be too large',
  after_close: 'The round of the bet is closed',
  wrong_syntax: 'Wrong syntax',
};

const syntaxText = (field: string | null): string =>
  field === null ? 'the body is no JSON object' : `${field} is missing or invalid`;

/** The cause, with the limit and what was left in money, or with the wrong field. */
export const causeText = ({ cause, limit, balance, currency, field }: Refusal): string => {
  const text = causes[cause] ?? words(cause);
  const amount = (value: string): string =>
    `${value} ${limit?.kind === 'session' ? 'min' : (currency ?? '')}`.trim();
  if (limit !== null)
    return `${nameOfLimit(limit)}: ${amount(limit.remaining)} left of ${amount(limit.limit)}`;
  if (cause === 'no_money' && balance !== null) return `${text}: ${amount(balance)} left`;
  return cause === 'wrong_syntax' ? `${text}: ${syntaxText(field)}` : text;
};
