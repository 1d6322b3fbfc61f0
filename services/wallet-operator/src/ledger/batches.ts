import type { Sql } from 'postgres';
import { count, limitText, type PlayerLimits } from '../limits/domain.ts';
import { readCounters, writeCounters } from '../limits/counters.ts';
import type { Command, Policy } from './command.ts';
import { writeDecided, type Decided } from './decision-queries.ts';
import { decide } from './domain.ts';
import { idSpaceOf } from './id-space.ts';
import { lockPlayers } from './locks.ts';
import { writeOrdinaryMoves, type Move } from './ordinary-moves.ts';
import type { Outcome } from './outcome.ts';
import { readStates, type StoredState, type Wide } from './state-queries.ts';
import type { Entry } from './state.ts';

/** Resolves with the outcome of every command, in order, after the commit. */
export type CommitBatch<Item, Result> = (
  sql: Sql,
  items: readonly Item[],
  /** Undefined: the time of the database. */
  now: Date | undefined,
  policy: Policy,
) => Promise<Result[]>;

/**
 * Commits the ordinary debits and credits of a batch. Outcomes are undefined for the moves that were not written because
 * they need a decision.
 */
export const commitOrdinary: CommitBatch<Move, Outcome | undefined> = async (...batch) => {
  const balances = await writeOrdinaryMoves(...batch);
  return balances.map((balance) => (balance === undefined ? undefined : { status: 'OK', balance }));
};

/** Whether the command may move money, so that its player is locked. */
export const locksPlayer = ({ operation }: Command): boolean =>
  operation !== 'authenticate' && operation !== 'balance';

const auditDetails = (command: Command, { status, reason, limit }: Outcome): Record<string, unknown> => {
  const {
    playerId: _,
    session: __,
    currency: ___,
    reverses,
    ...details
  } = command as Command & {
    session?: string;
    currency?: string;
    reverses?: string;
  };
  return {
    ...details,
    status,
    reason,
    reverseTransactionId: reverses,
    ...(limit && {
      limit: {
        ...limit,
        limit: limitText(limit.kind, limit.limit),
        remaining: limitText(limit.kind, limit.remaining),
      },
    }),
  };
};

/** Counts an accepted entry for the limits of its player. */
const countEntry = ({ limits, targetSeq }: StoredState, { operation, amount }: Entry): void => {
  if (limits === undefined) return;
  if (operation === 'debit' || operation === 'credit' || operation === 'deposit')
    count(limits, { operation, amount });
  else if (operation === 'rollback' && amount > 0n && targetSeq !== undefined)
    count(limits, { operation, amount, reversedSeq: targetSeq });
};

/** Decides one command and adds what has to be written; `state` is changed to what it is afterwards. */
const decideOne = (command: Command, state: StoredState, policy: Policy, decided: Decided): Outcome => {
  const { entries, round, status, balance, reason, limit } = decide(state, command, policy);
  const idSpace = idSpaceOf(command, policy.transactionIds);
  for (const entry of entries) {
    state.seq += 1n;
    if (state.player) state.player.balance = entry.balanceAfter;
    decided.entries.push({ ...entry, seq: state.seq, idSpace });
    countEntry(state, entry);
  }
  const isChanged = state.round === undefined || (state.round === 'open' && round === 'closed');
  if (round !== undefined && isChanged && 'roundId' in command) {
    const { playerId, roundId, gameCode, operation } = command;
    const [closed, promotional] = [round === 'closed', state.round === undefined && operation === 'credit'];
    decided.rounds.push({ playerId, roundId, gameCode, closed, seq: state.seq, promotional });
  }
  const outcome = {
    status,
    balance: balance?.toString(),
    reason,
    limit,
    languageCode: reason === undefined ? undefined : state.profile?.languageCode,
    profile: command.operation === 'authenticate' && status === 'OK' ? state.profile : undefined,
  };
  if (reason !== undefined && command.operation !== 'balance' && !('isRepair' in command))
    decided.audit.push({ playerId: command.playerId, details: auditDetails(command, outcome) });
  return outcome;
};

/** The players of a batch who have limits, or may get near one with a deposit. */
const limitedPlayers = (commands: readonly Command[], states: readonly StoredState[]): Set<string> =>
  new Set(
    commands
      .filter(
        (command, at) => command.operation === 'deposit' || (locksPlayer(command) && states[at]?.isCounted),
      )
      .map(({ playerId }) => playerId),
  );

interface Decider {
  /** The stored states of the commands, in their order. */
  states: readonly StoredState[];
  /** Decides one command; the balance of its player passes on to the next one. */
  decideNext: (command: Command, state: StoredState | undefined) => Outcome;
  /** What has to be written for the commands that were decided. */
  decided: Decided;
  limits: PlayerLimits[];
  moment: Date;
}

/** Reads what commands are decided from. */
const readDecider = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<Decider> => {
  const { states, moment } = await readStates(sql, commands, now, policy);
  const limitsOf = await readCounters(sql, limitedPlayers(commands, states), moment, policy.sessionBreakS);
  const decided: Decided = { entries: [], rounds: [], audit: [] };
  const newest = new Map<string, StoredState>();
  const decideNext = (command: Command, state: StoredState | undefined): Outcome => {
    if (state === undefined) throw new Error('no state was read for a command');
    const { playerId } = command;
    const before = newest.get(playerId);
    const limits = limitsOf.get(playerId);
    const current = { ...state, limits, ...(before && { player: before.player, seq: before.seq }) };
    newest.set(playerId, current);
    return decideOne(command, current, policy, decided);
  };
  return { states, decideNext, decided, limits: [...limitsOf.values()], moment };
};

/** The state of a command after others were decided that may share its transaction or its round. */
const stateAfter = (
  state: StoredState,
  command: Command,
  { entries, rounds }: Decided,
  { transactionIds }: Policy,
): StoredState => {
  const { playerId, transactionId, reverses, roundId }: Wide = command;
  const idSpace = idSpaceOf(command, transactionIds);
  const inSpace = entries.filter((entry) => entry.idSpace === idSpace);
  const known = inSpace.find((entry) => entry.transactionId === transactionId);
  const target = inSpace.find((entry) => entry.transactionId === reverses);
  const isReversed = inSpace.some(
    (entry) => entry.operation === 'rollback' && entry.reverses === reverses && entry.amount > 0n,
  );
  const round = rounds.findLast((one) => one.playerId === playerId && one.roundId === roundId);
  return {
    ...state,
    ...(known && { known }),
    ...(target && { target, targetSeq: target.seq }),
    ...(isReversed && { targetReversed: true }),
    ...(round && { round: round.closed ? 'closed' : 'open' }),
  };
};

/**
 * Reads the state of the commands and returns what says how one of them would be decided, after those that it was asked
 * about before. Nothing is written and no player is locked.
 */
export const previewDecided = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<(command: Command) => Outcome> => {
  const { states, decideNext, decided } = await readDecider(sql, commands, now, policy);
  const stateOf = new Map(commands.map((command, position) => [command, states[position]]));
  return (command) => {
    const state = stateOf.get(command);
    return decideNext(command, state && stateAfter(state, command, decided, policy));
  };
};

/** Commits commands on one transaction; see `commitDecided`. */
const decideAll: CommitBatch<Command, Outcome> = async (sql, commands, now, policy) => {
  const moving = commands.filter(locksPlayer);
  if (moving.length > 0) await lockPlayers(sql, new Set(moving.map(({ playerId }) => playerId)));
  const { states, decideNext, decided, limits, moment } = await readDecider(sql, commands, now, policy);
  const outcomes = commands.map((command, position) => decideNext(command, states[position]));
  if (decided.entries.length > 0 || decided.audit.length > 0) await writeDecided(sql, decided, moment);
  await writeCounters(sql, limits);
  return outcomes;
};

/**
 * Commits any commands: reads their state under the locks of their players, has domain.ts decide one after the other,
 * and writes the decisions. No two commands may share a transaction or a round (`keysOf`), so within a batch only the
 * balance of a player passes from one command to the next.
 */
export const commitDecided: CommitBatch<Command, Outcome> = async (pool, commands, now, policy) => {
  let outcomes: Outcome[] = [];
  await pool.begin(async (transaction) => {
    outcomes = await decideAll(transaction as unknown as Sql, commands, now, policy);
  });
  return outcomes;
};
