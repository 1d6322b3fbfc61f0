/**
 * A request to the ledger. Amounts are in minor units. Their syntax limits them to less than 10^15, so a JavaScript number
 * is exact; balances are bigint.
 */
export type Command =
  | { operation: 'authenticate'; playerId: string; currency: string; gameCode: string; session?: string }
  | { operation: 'balance'; playerId: string }
  | MoneyCommand;

/** Commands that add entries to the ledger. */
export type MoneyCommand = Debit | Credit | Rollback | Transfer;

/** Fields of commands in a round, which come from the game server or from a repair. */
interface OfRound {
  playerId: string;
  transactionId: string;
  roundId: string;
  gameCode: string;
  /** As stored: see metadata.ts. */
  metadata?: string | undefined;
  /** Repairs a difference to a statement: needs no session, and its caller records the audit event. */
  isRepair?: true;
}

export interface Debit extends OfRound {
  operation: 'debit';
  amount: number;
  /** Hash of the session token; undefined when none was sent. */
  session?: string;
}

export interface Credit extends OfRound {
  operation: 'credit';
  amount: number;
  roundClosed: boolean;
}

export interface Rollback extends OfRound {
  operation: 'rollback';
  reverses: string;
  roundClosed: boolean;
}

/** Moves money outside of games. */
export interface Transfer {
  operation: 'deposit' | 'withdrawal' | 'adjustment';
  playerId: string;
  transactionId: string;
  /** Negative for an adjustment that takes money. */
  amount: number;
  /** As stored: see metadata.ts. */
  metadata?: string;
}

/** A command with the ids of all operations as optional fields. */
export type AnyCommand = Pick<Command, 'playerId'> &
  Partial<Pick<Rollback, 'transactionId' | 'roundId' | 'gameCode' | 'reverses'> & Pick<Debit, 'session'>>;

/** Possible statuses of a debit above a limit. */
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
  /** The answer to a debit above a limit of the player. */
  limitStatus: (typeof limitStatuses)[number];
  /** A session of play ends after this time without an accepted debit. */
  sessionBreakS: number;
  /** A session of a launch ends after this time without an accepted callback that names it. */
  sessionTtlS: number;
  /** Maximum lifetime of a session, from its launch. */
  sessionMaxS: number;
}

/** The reason of an outcome, for logs and the audit trail. */
export const reasons = [
  'player_unknown',
  'player_disabled',
  'player_excluded',
  'session_missing',
  'session_unknown',
  'session_of_another_game',
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

/** Whether the command may move money, so that its batch locks the player. */
export const locksPlayer = ({ operation }: Command): boolean =>
  operation !== 'authenticate' && operation !== 'balance';

/**
 * Where the transaction id of a command is unique. Two entries with one transaction id may exist in two spaces.
 * - `operator`: ids of deposits, withdrawals and adjustments, which the operator chooses
 * - `game`: ids of the game server, when they are unique over all players
 * - `player/<id>`: ids of the game server, when they are unique for each player only
 */
export const idSpaceOf = (
  { operation, playerId }: { operation: string; playerId: string },
  scope: Policy['transactionIds'],
): string => {
  if (operation === 'deposit' || operation === 'withdrawal' || operation === 'adjustment') return 'operator';
  return scope === 'global' ? 'game' : `player/${playerId}`;
};

/** The transactions and rounds of a command. Commands that share one never run at the same time. */
export const keysOf = (command: Command, scope: Policy['transactionIds']): string[] => {
  const keys: string[] = [];
  const space = idSpaceOf(command, scope);
  // Ids contain no control characters, so the line feed separates the parts without ambiguity.
  if ('transactionId' in command) keys.push(`t${space}\n${command.transactionId}`);
  if ('reverses' in command && command.reverses !== command.transactionId)
    keys.push(`t${space}\n${command.reverses}`);
  if ('roundId' in command) keys.push(`r${command.playerId}\n${command.roundId}`);
  return keys;
};

/** A command that `commitMoves` may accept. */
export type Move = Debit | Credit;

export const isMove = (command: Command, { sessions }: Policy): command is Move =>
  command.operation === 'credit' ||
  (command.operation === 'debit' && (sessions === 'optional' || command.session !== undefined));
