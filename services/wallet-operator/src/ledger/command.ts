/**
 * What the ledger is asked to do. Amounts are in minor units; they are below 10^15 by their syntax, so
 * a JavaScript number holds them exactly. Balances are not: those are bigint.
 */
export type Command =
  | { operation: 'authenticate'; playerId: string; currency: string; gameCode: string; session?: string }
  | { operation: 'balance'; playerId: string }
  | MoneyCommand;

/** What adds entries to the ledger. */
export type MoneyCommand = Debit | Credit | Rollback | Transfer;

/** A command of the game server; a person may make it instead. */
interface OfGame {
  /** It repairs a difference to a statement: it needs no session, and its caller writes to the audit trail. */
  isRepair?: true;
}

export interface Debit extends OfGame {
  operation: 'debit';
  playerId: string;
  transactionId: string;
  roundId: string;
  gameCode: string;
  amount: number;
  /** Hash of the session token, where one was sent. */
  session?: string;
}

export interface Credit extends OfGame {
  operation: 'credit';
  playerId: string;
  transactionId: string;
  roundId: string;
  gameCode: string;
  amount: number;
  roundClosed: boolean;
}

export interface Rollback extends OfGame {
  operation: 'rollback';
  playerId: string;
  transactionId: string;
  roundId: string;
  gameCode: string;
  reverses: string;
  roundClosed: boolean;
}

/** Money that comes or goes outside of games. */
export interface Transfer {
  operation: 'deposit' | 'withdrawal';
  playerId: string;
  transactionId: string;
  amount: number;
}

/** Statuses with which a debit beyond a limit may be refused. */
export const limitStatuses = ['ERROR_NOT_ENOUGH_MONEY', 'ERROR_PLAYER_DISABLED', 'ERROR_UNKNOWN'] as const;

/** Settings for cases that the contract of the game server leaves open. */
export interface Policy {
  /** Reverse a debit whose round is closed, or refuse. */
  rollbackAfterClose: 'reverse' | 'reject';
  /** Pay a credit whose round was never seen (free rounds), or refuse. */
  creditUnknownRound: 'accept' | 'reject';
  /** Whether a debit must carry a session token. */
  sessions: 'optional' | 'required';
  /** Whether the game server's transaction ids are unique over all players or only for each player. */
  transactionIds: 'global' | 'player';
  /** The answer to a debit beyond a limit of the player. */
  limitStatus: (typeof limitStatuses)[number];
  /** A session of play ends when no debit was accepted for so long. */
  sessionBreakS: number;
}

/** The reason of an outcome, for logs and the audit trail. */
export const reasons = [
  'player_unknown',
  'player_disabled',
  'player_excluded',
  'session_missing',
  'session_unknown',
  'session_expired',
  'game_unavailable',
  'currency_differs',
  'parameters_differ',
  'tombstoned',
  'reverses_itself',
  'round_closed',
  'round_unknown',
  'no_money',
  'limit_reached',
  'balance_overflow',
  'target_is_no_debit',
  'target_of_another_player',
  'target_of_another_round',
  'already_reversed',
  'nothing_to_reverse',
  'after_close',
] as const;

export type Reason = (typeof reasons)[number];
