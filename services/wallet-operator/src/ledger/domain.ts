import type { Status } from '@platform/wallet-protocol/callbacks';
import { findReachedLimit } from '../limits/domain.ts';
import {
  idSpaceOf,
  type Command,
  type Credit,
  type Debit,
  type MoneyCommand,
  type Policy,
  type Reason,
  type Rollback,
  type Transfer,
} from './command.ts';
import type { Entry } from './entry.ts';
import type { Decision, Player, State } from './state.ts';

/**
 * The rules of the ledger, for one command at a time. ordinary-moves.ts repeats the rules for accepted debits and credits in
 * SQL; a property test compares both.
 */

export const maxBalance = 2n ** 63n - 1n;

/** RMB is another name for CNY. */
export const normalizeCurrency = (code: string): string => (code === 'RMB' ? 'CNY' : code);

const refuse = (status: Status, reason: Reason, balance?: bigint): Decision => ({
  status,
  reason,
  balance,
  entries: [],
});

/** Refuses a debit or a deposit above a limit; undefined when the limits allow it. */
const refusedByLimit = (
  { limits }: State,
  { balance }: Player,
  { operation, amount }: Debit | (Transfer & { operation: 'deposit' }),
  { limitStatus }: Policy,
): Decision | undefined => {
  const limit = limits && findReachedLimit(limits, operation, BigInt(amount));
  return limit && { ...refuse(limitStatus, 'limit_reached', balance), limit };
};

/** The fields that an entry takes from its command. */
const fieldsOf = (command: MoneyCommand) => ({
  playerId: command.playerId,
  operation: command.operation,
  transactionId: command.transactionId,
  roundId: 'roundId' in command ? command.roundId : null,
  gameCode: 'gameCode' in command ? command.gameCode : null,
  reverses: 'reverses' in command ? command.reverses : null,
  roundClosed: 'roundClosed' in command ? command.roundClosed : null,
});

/** The entry of an accepted command; `amount` is signed. */
const entryOf = (player: Player, command: MoneyCommand, amount: bigint, policy: Policy): Entry => ({
  ...fieldsOf(command),
  namedRoundId: null,
  seq: player.seq + 1n,
  amount,
  balanceAfter: player.balance + amount,
  idSpace: idSpaceOf(command, policy.transactionIds),
  metadata: command.metadata,
});

/** The change of the balance if the command is accepted. */
const changeOf = ({ operation, amount }: Debit | Credit | Transfer): bigint =>
  BigInt(operation === 'debit' || operation === 'withdrawal' ? -amount : amount);

/** Whether the command has the same parameters as the command of the entry. */
const isRepeat = (known: Entry, command: MoneyCommand): boolean => {
  const asRequested = { ...known, roundId: known.namedRoundId ?? known.roundId };
  return (
    Object.entries(fieldsOf(command)).every(([name, value]) => asRequested[name as keyof Entry] === value) &&
    (!('amount' in command) || known.amount === changeOf(command))
  );
};

/** The decision about a command whose transaction id an entry has. */
const repeated = (known: Entry, command: MoneyCommand): Decision => {
  // Not ERROR_DUPLICATE_TRANSACTION, which callers read as success: the debit was never applied.
  if (known.operation === 'tombstone') return refuse('ERROR_UNKNOWN', 'tombstoned');
  return isRepeat(known, command)
    ? { status: 'OK', balance: known.balanceAfter, entries: [] }
    : refuse('ERROR_DUPLICATE_TRANSACTION', 'parameters_differ');
};

const refusedSession = (
  { session }: State,
  command: { session?: string; playerId: string; gameCode: string },
  isRequired: boolean,
): Decision | undefined => {
  if (command.session === undefined)
    return isRequired ? refuse('ERROR_INVALID_SESSION', 'session_missing') : undefined;
  if (session?.playerId !== command.playerId) return refuse('ERROR_INVALID_SESSION', 'session_unknown');
  if (session.gameCode !== command.gameCode)
    return refuse('ERROR_INVALID_SESSION', 'session_of_another_game');
  return session.expired ? refuse('ERROR_SESSION_EXPIRED', 'session_expired') : undefined;
};

const authenticate = (
  state: State,
  player: Player,
  command: Command & { operation: 'authenticate' },
): Decision => {
  const { balance } = player;
  if (player.disabled) return refuse('ERROR_PLAYER_DISABLED', 'player_disabled');
  if (!state.gameEnabled) return refuse('ERROR_INVALID_GAME', 'game_unavailable');
  const session = refusedSession(state, command, false);
  if (session) return session;
  if (normalizeCurrency(command.currency) !== player.currency)
    return refuse('ERROR_WRONG_CURRENCY', 'currency_differs');
  return { status: 'OK', balance, reason: player.excluded ? 'player_excluded' : undefined, entries: [] };
};

const debit = (state: State, player: Player, command: Debit, policy: Policy): Decision => {
  const { balance } = player;
  const amount = BigInt(command.amount);
  if (player.disabled) return refuse('ERROR_PLAYER_DISABLED', 'player_disabled');
  if (player.excluded) return refuse('ERROR_PLAYER_DISABLED', 'player_excluded');
  if (!state.gameEnabled) return refuse('ERROR_INVALID_GAME', 'game_unavailable');
  const isSessionRequired = policy.sessions === 'required' && !command.isRepair;
  const session = refusedSession(state, command, isSessionRequired);
  if (session) return session;
  if (state.round === 'closed') return refuse('ERROR_UNKNOWN', 'round_closed');
  if (amount > balance) return refuse('ERROR_NOT_ENOUGH_MONEY', 'no_money', balance);
  const refused = refusedByLimit(state, player, command, policy);
  if (refused) return refused;
  const entry = entryOf(player, command, -amount, policy);
  return { status: 'OK', balance: entry.balanceAfter, entries: [entry], round: 'open' };
};

const credit = (state: State, player: Player, command: Credit, policy: Policy): Decision => {
  if (state.round === 'closed') return refuse('ERROR_UNKNOWN', 'round_closed');
  if (state.round === null && policy.creditUnknownRound === 'reject')
    return refuse('ERROR_TRANSACTION_DOES_NOT_EXIST', 'round_unknown');
  if (BigInt(command.amount) > maxBalance - player.balance)
    return refuse('ERROR_UNKNOWN', 'balance_overflow');
  const entry = entryOf(player, command, BigInt(command.amount), policy);
  return {
    status: 'OK',
    balance: entry.balanceAfter,
    entries: [entry],
    round: command.roundClosed ? 'closed' : 'open',
  };
};

/** The round that a rollback changes: the round of the reversed debit, even if the caller names another one. */
export const roundOfRollback = ({ target }: State, { playerId, roundId }: Rollback): string =>
  target?.operation === 'debit' && target.playerId === playerId ? (target.roundId ?? roundId) : roundId;

const rollback = (state: State, player: Player, command: Rollback, policy: Policy): Decision => {
  const { playerId, transactionId, reverses, roundClosed } = command;
  const { target } = state;
  const roundId = roundOfRollback(state, command);
  const isMisnamed = roundId !== command.roundId;
  const accept = (amount: bigint, reason?: Reason, tombstones: Entry[] = []): Decision => {
    const seq = player.seq + BigInt(tombstones.length);
    const entry = {
      ...entryOf({ ...player, seq }, { ...command, roundId }, amount, policy),
      namedRoundId: isMisnamed ? command.roundId : null,
    };
    return {
      status: 'OK',
      balance: entry.balanceAfter,
      entries: [...tombstones, entry],
      reason: reason ?? (isMisnamed ? 'target_of_another_round' : undefined),
      ...(roundClosed ? { round: 'closed' } : {}),
    };
  };
  if (reverses === transactionId) return refuse('ERROR_WRONG_SYNTAX', 'reverses_itself');
  if (target === null) {
    const entry = entryOf(player, command, 0n, policy);
    const tombstone: Entry = {
      ...entry,
      operation: 'tombstone',
      transactionId: reverses,
      reverses: null,
      roundClosed: null,
      metadata: null,
    };
    return accept(0n, 'nothing_to_reverse', [tombstone]);
  }
  if (target.operation === 'tombstone') return accept(0n, 'nothing_to_reverse');
  if (target.operation !== 'debit') return refuse('ERROR_TRANSACTION_DOES_NOT_EXIST', 'target_is_no_debit');
  if (target.playerId !== playerId)
    return refuse('ERROR_TRANSACTION_DOES_NOT_EXIST', 'target_of_another_player');
  if (state.targetReversed) return accept(0n, 'already_reversed');
  if (state.round === 'closed' && policy.rollbackAfterClose === 'reject')
    return refuse('ERROR_UNKNOWN', 'round_closed');
  if (-target.amount > maxBalance - player.balance) return refuse('ERROR_UNKNOWN', 'balance_overflow');
  return accept(-target.amount, state.round === 'closed' ? 'after_close' : undefined);
};

const transfer = (state: State, player: Player, command: Transfer, policy: Policy): Decision => {
  const { balance } = player;
  const { operation } = command;
  const change = changeOf(command);
  if (operation === 'deposit' && player.disabled) return refuse('ERROR_PLAYER_DISABLED', 'player_disabled');
  if (operation === 'deposit' && player.excluded) return refuse('ERROR_PLAYER_DISABLED', 'player_excluded');
  if (-change > balance) return refuse('ERROR_NOT_ENOUGH_MONEY', 'no_money', balance);
  if (change > maxBalance - balance) return refuse('ERROR_UNKNOWN', 'balance_overflow');
  const refused = operation === 'deposit' && refusedByLimit(state, player, { ...command, operation }, policy);
  if (refused) return refused;
  const entry = entryOf(player, command, change, policy);
  return { status: 'OK', balance: entry.balanceAfter, entries: [entry] };
};

/** Decides one command. The caller writes `entries`, `round` and the balance of the last entry. */
export const decisionOf = (state: State, command: Command, policy: Policy): Decision => {
  const { player, known } = state;
  if ('transactionId' in command && known !== null) return repeated(known, command);
  if (player === null) return refuse('ERROR_UNKNOWN', 'player_unknown');
  switch (command.operation) {
    case 'authenticate':
      return authenticate(state, player, command);
    case 'balance':
      return { status: 'OK', balance: player.balance, entries: [] };
    case 'debit':
      return debit(state, player, command, policy);
    case 'credit':
      return credit(state, player, command, policy);
    case 'rollback':
      return rollback(state, player, command, policy);
    default:
      return transfer(state, player, command, policy);
  }
};
