import type { Sql } from 'postgres';
import { count, limitText, type PlayerLimits } from '../limits/domain.ts';
import { readLimits, writeLimits } from '../limits/store.ts';
import type { Command, Policy } from './command.ts';
import { writeDecided, type Decided } from './decision-store.ts';
import { decide } from './domain.ts';
import { idSpaceOf } from './id-space.ts';
import { lockPlayers } from './locks.ts';
import { writeOrdinaryMoves, type Move } from './ordinary-moves.ts';
import type { Outcome } from './outcome.ts';
import { readStates, type StoredState } from './state-store.ts';
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
  if (reason !== undefined && command.operation !== 'balance')
    decided.audit.push({ playerId: command.playerId, details: auditDetails(command, outcome) });
  return outcome;
};

/** The limits of the players to whom they matter in this batch. */
const readLimitsOf = async (
  sql: Sql,
  commands: readonly Command[],
  states: readonly StoredState[],
  moment: Date,
  { sessionBreakS }: Policy,
): Promise<Map<string, PlayerLimits>> => {
  const limited = commands.filter(
    (command, at) => command.operation === 'deposit' || (locksPlayer(command) && states[at]?.isCounted),
  );
  if (limited.length === 0) return new Map();
  return readLimits(sql, [...new Set(limited.map(({ playerId }) => playerId))], moment, sessionBreakS);
};

/** Decides commands one after the other from their stored state, and returns what has to be written. */
const decideInOrder = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<{ outcomes: Outcome[]; decided: Decided; limits: PlayerLimits[]; moment: Date }> => {
  const { states, moment } = await readStates(sql, commands, now, policy);
  const limitsOf = await readLimitsOf(sql, commands, states, moment, policy);
  const decided: Decided = { entries: [], rounds: [], audit: [] };
  const newest = new Map<string, StoredState>();
  const outcomes = commands.map((command, position) => {
    const state = states[position];
    if (state === undefined) throw new Error('no state was read for a command');
    const { playerId } = command;
    const before = newest.get(playerId);
    const limits = limitsOf.get(playerId);
    const current = { ...state, limits, ...(before && { player: before.player, seq: before.seq }) };
    newest.set(playerId, current);
    return decideOne(command, current, policy, decided);
  });
  return { outcomes, decided, limits: [...limitsOf.values()], moment };
};

/**
 * What would be decided about the commands now, in their order. Nothing is written and no player is locked. The balance
 * of a player passes from one command to the next; rounds and transactions are as they are stored.
 */
export const previewDecided: CommitBatch<Command, Outcome> = async (...batch) =>
  (await decideInOrder(...batch)).outcomes;

/** Commits commands on one transaction; see `commitDecided`. */
const decideAll: CommitBatch<Command, Outcome> = async (sql, commands, now, policy) => {
  const moving = commands.filter(locksPlayer);
  if (moving.length > 0) await lockPlayers(sql, new Set(moving.map(({ playerId }) => playerId)));
  const { outcomes, decided, limits, moment } = await decideInOrder(sql, commands, now, policy);
  if (decided.entries.length > 0 || decided.audit.length > 0) await writeDecided(sql, decided, moment);
  await writeLimits(sql, limits);
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
