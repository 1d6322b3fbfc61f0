import { decimal } from '@platform/wallet-protocol/money';
import type { ISql, Sql } from 'postgres';
import { readLimits, writeCounters } from '../limits/counters.ts';
import { count, limitView } from '../limits/domain.ts';
import {
  idSpaceOf,
  locksPlayer,
  type AnyCommand,
  type Command,
  type Policy,
  type Reason,
} from './command.ts';
import { extendSessions, insertDecisions, lockPlayers, readStates, type Writes } from './decision-queries.ts';
import { refusalOf } from './refusals.ts';
import { decisionOf, roundOfRollback } from './domain.ts';
import type { Outcome, Player, State } from './state.ts';

/** Fields of a command that an audit event has elsewhere, under another name, or not at all. */
const omitted = new Set(['playerId', 'session', 'currency', 'reverses', 'metadata']);

/** Why a win or a rollback may be refused although somebody is owed its money. */
const owedReasons = new Set<Reason>(['round_closed', 'round_unknown', 'tombstoned', 'balance_overflow']);

/** Whether a refused callback is in the audit trail, too. */
const isAudited = ({ operation }: Command, reason: Reason): boolean =>
  operation !== 'debit' && owedReasons.has(reason);

const auditDetails = (
  command: Command,
  { status, reason, limit }: Outcome,
  target: State['target'],
): Record<string, unknown> => {
  const { reverses }: AnyCommand = command;
  return {
    ...Object.fromEntries(Object.entries(command).filter(([name]) => !omitted.has(name))),
    ...('amount' in command && { amount: decimal(command.amount) }),
    status,
    reason,
    reverseTransactionId: reverses,
    debitRoundId: 'roundId' in command && target?.roundId !== command.roundId ? target?.roundId : undefined,
    ...(limit && { limit: limitView(limit) }),
  };
};

const changeOfRound = ({ rounds }: Pick<Writes, 'rounds'>, playerId: string, roundId: string | undefined) =>
  rounds.find((change) => change.playerId === playerId && change.roundId === roundId);

/** The outcome of one command; adds what has to be written to `writes`, and counts new entries for limits. */
const outcomeOf = (command: Command, state: State, policy: Policy, writes: Writes): Outcome => {
  const { entries, round, status, balance, reason, limit } = decisionOf(state, command, policy);
  writes.entries.push(...entries);
  for (const entry of entries) if (state.limits) count(state.limits, entry, state.target?.seq);
  const { session }: AnyCommand = command;
  // A repeat has no entry, and is answered whatever its session is.
  const isAccepted = status === 'OK' && (entries.length > 0 || command.operation === 'authenticate');
  if (isAccepted && session !== undefined && state.session?.laterEnd)
    writes.sessions.set(session, state.session);
  const isOvertaken = command.operation === 'debit' && state.isPromotional;
  const isChanged = state.round === null || (state.round === 'open' && round === 'closed') || isOvertaken;
  const { roundId = null, seq = 0n } = entries.at(-1) ?? {};
  if (round !== undefined && isChanged && roundId !== null && 'gameCode' in command) {
    const { playerId, gameCode, operation } = command;
    const closed = round === 'closed';
    const promotional = state.round === null ? operation === 'credit' : state.isPromotional && !isOvertaken;
    const earlier = changeOfRound(writes, playerId, roundId);
    // A batch writes a round once.
    if (earlier) Object.assign(earlier, { closed, promotional });
    else writes.rounds.push({ playerId, roundId, gameCode, closed, openedSeq: seq, promotional });
  }
  const outcome = {
    status,
    balance: balance?.toString(),
    reason,
    limit,
    languageCode: reason === undefined ? undefined : state.profile?.languageCode,
    profile: command.operation === 'authenticate' && status === 'OK' ? state.profile : undefined,
  };
  if (reason === undefined || 'isRepair' in command) return outcome;
  const refusal = status === 'OK' ? undefined : refusalOf(command, outcome, reason);
  if (refusal !== undefined) writes.refusals.push(refusal);
  if (refusal === undefined || isAudited(command, reason))
    writes.audit.push({ playerId: command.playerId, details: auditDetails(command, outcome, state.target) });
  return outcome;
};

/** The players of a batch who have limits, or may get near one with a deposit. */
const limitedPlayers = (commands: readonly Command[], states: readonly State[]): string[] => {
  const limited = commands.filter(
    (command, at) => command.operation === 'deposit' || (locksPlayer(command) && states[at]?.isCounted),
  );
  return [...new Set(limited.map(({ playerId }) => playerId))];
};

/** The state of a command after others of its batch, of which it may share the transaction or the round. */
const stateAfter = (
  state: State,
  command: AnyCommand & Command,
  { entries, rounds }: Writes,
  { transactionIds }: Policy,
): State => {
  const { playerId, transactionId, reverses, roundId }: AnyCommand = command;
  const idSpace = idSpaceOf(command, transactionIds);
  const inSpace = entries.filter((entry) => entry.idSpace === idSpace);
  const known = inSpace.find((entry) => entry.transactionId === transactionId);
  const target = inSpace.find((entry) => entry.transactionId === reverses);
  const isReversed = inSpace.some(
    (entry) => entry.operation === 'rollback' && entry.reverses === reverses && entry.amount > 0n,
  );
  const current = { ...state, ...(target && { target }) };
  const ownRoundId = command.operation === 'rollback' ? roundOfRollback(current, command) : roundId;
  const round = changeOfRound({ rounds }, playerId, ownRoundId);
  return {
    ...current,
    ...(known && { known }),
    ...(isReversed && { targetReversed: true }),
    ...(round && { round: round.closed ? 'closed' : 'open', isPromotional: round.promotional }),
  };
};

/** Reads what the outcomes of commands depend on: their stored states, in their order, and the limits of their players. */
const readBatchState = async (
  sql: ISql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
) => {
  const { states, moment } = await readStates(sql, commands, now, policy);
  const limited = limitedPlayers(commands, states);
  const limitsOf = await readLimits(sql, limited, moment, policy.sessionBreakS);
  /** What has to be written for the commands. */
  const writes: Writes = {
    entries: [],
    rounds: [],
    audit: [],
    refusals: [],
    clocks: new Map(),
    sessions: new Map(),
  };
  const players = new Map<string, Player>();
  /** The outcome of a command after those that it was called with before: the balance of a player passes on. */
  const nextOutcome = (command: Command, state: State | undefined): Outcome => {
    if (state === undefined) throw new Error('no state was read for a command');
    const { playerId } = command;
    const player = players.get(playerId) ?? state.player;
    if (state.clock) writes.clocks.set(playerId, state.clock);
    const before = writes.entries.length;
    const current = { ...stateAfter(state, command, writes, policy), player, limits: limitsOf.get(playerId) };
    const outcome = outcomeOf(command, current, policy, writes);
    const newest = writes.entries.slice(before).at(-1);
    if (player && newest) players.set(playerId, { ...player, balance: newest.balanceAfter, seq: newest.seq });
    return outcome;
  };
  return { states, nextOutcome, writes, limits: [...limitsOf.values()], moment };
};

/** Decisions that are not made: reads the state of the commands. Nothing is written and no player is locked. */
export const previewOutcomes = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
) => {
  const { states, nextOutcome, writes } = await readBatchState(sql, commands, now, policy);
  /** What the ledger knows about a command before any of them. */
  const stateOf = (command: Command): State => states[commands.indexOf(command)] as State;
  return {
    stateOf,
    /** The outcome that a command would have after those that this was called with before, and what its entries would move. */
    decide: (command: Command): Outcome & { moved: bigint } => {
      const before = writes.entries.length;
      const outcome = nextOutcome(command, stateOf(command));
      const moved = writes.entries
        .slice(before)
        .reduce((sum, { amount }) => sum + (amount < 0n ? -amount : amount), 0n);
      return { ...outcome, moved };
    },
  };
};

export type Preview = Awaited<ReturnType<typeof previewOutcomes>>;

/**
 * Commits any commands: reads their state under the locks of their players, has domain.ts decide one after the other,
 * and writes the decisions. Returns the outcomes in the order of the commands.
 */
export const commitCommands = async (
  pool: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
): Promise<Outcome[]> => {
  let outcomes: Outcome[] = [];
  await pool.begin(async (sql) => {
    const moving = commands.filter(locksPlayer);
    if (moving.length > 0) await lockPlayers(sql, new Set(moving.map(({ playerId }) => playerId)));
    const { states, nextOutcome, writes, limits, moment } = await readBatchState(sql, commands, now, policy);
    outcomes = commands.map((command, position) => nextOutcome(command, states[position]));
    if (writes.entries.length + writes.audit.length + writes.refusals.length > 0)
      await insertDecisions(sql, writes, moment);
    await writeCounters(sql, limits);
    if (writes.sessions.size > 0) await extendSessions(sql, writes.sessions, moment);
  });
  return outcomes;
};
