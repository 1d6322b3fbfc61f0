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
import type { Decision, Outcome, Player, State } from './state.ts';

/** Fields of a command that are not in `details` of an audit event, or under another name. */
const omitted = new Set(['playerId', 'session', 'currency', 'reverses', 'metadata']);

/** Reasons to refuse a win or rollback although the player may be owed the money. */
const owedReasons = new Set<Reason>(['round_closed', 'round_unknown', 'tombstoned', 'balance_overflow']);

/** Whether a refused callback is also in the audit trail. */
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

/** Adds the change of the round to `writes`, if the decision opens or closes it, or is the first bet after a free round. */
const addRoundChange = (
  { round, entries }: Decision,
  command: Command,
  state: State,
  writes: Writes,
): void => {
  const isFirstBet = command.operation === 'debit' && state.isPromotional;
  const isChanged = state.round === null || (state.round === 'open' && round === 'closed') || isFirstBet;
  const { roundId = null, seq = 0n } = entries.at(-1) ?? {};
  if (round === undefined || !isChanged || roundId === null || !('gameCode' in command)) return;
  const { playerId, gameCode, operation } = command;
  const closed = round === 'closed';
  const promotional = state.round === null ? operation === 'credit' : state.isPromotional && !isFirstBet;
  const earlier = changeOfRound(writes, playerId, roundId);
  // One statement cannot write the same round twice.
  if (earlier) Object.assign(earlier, { closed, promotional });
  else writes.rounds.push({ playerId, roundId, gameCode, closed, openedSeq: seq, promotional });
};

/** The outcome of one command. Adds the rows to write to `writes`, and counts new entries for limits. */
const outcomeOf = (command: Command, state: State, policy: Policy, writes: Writes): Outcome => {
  const decision = decisionOf(state, command, policy);
  const { entries, status, balance, reason, limit } = decision;
  writes.entries.push(...entries);
  for (const entry of entries) if (state.limits) count(state.limits, entry, state.target?.seq);
  const { session }: AnyCommand = command;
  // A repeat adds no entry, and does not extend the session.
  const isAccepted = status === 'OK' && (entries.length > 0 || command.operation === 'authenticate');
  if (isAccepted && session !== undefined && state.session?.laterEnd)
    writes.sessions.set(session, state.session);
  addRoundChange(decision, command, state, writes);
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

/** The players of a batch whose limits must be read: those with counters, and those of deposits. */
const limitedPlayers = (commands: readonly Command[], states: readonly State[]): string[] => {
  const limited = commands.filter(
    (command, index) => command.operation === 'deposit' || (locksPlayer(command) && states[index]?.isCounted),
  );
  return [...new Set(limited.map(({ playerId }) => playerId))];
};

/** The state of a command after earlier commands of its batch, which may concern the same transaction or round. */
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

/** Reads the states of commands, in their order, and the limits of their players. */
const readBatchState = async (
  sql: ISql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
) => {
  const { states, moment } = await readStates(sql, commands, now, policy);
  const limited = limitedPlayers(commands, states);
  const limitsOf = await readLimits(sql, limited, moment, policy.sessionBreakS);
  const writes: Writes = {
    entries: [],
    rounds: [],
    audit: [],
    refusals: [],
    clocks: new Map(),
    sessions: new Map(),
  };
  const players = new Map<string, Player>();
  /** Decides the next command, after the effects of the commands that were decided before. */
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

/** Reads the state of commands to preview their outcomes. Writes nothing and locks no player. */
export const previewOutcomes = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date | undefined,
  policy: Policy,
) => {
  const { states, nextOutcome, writes } = await readBatchState(sql, commands, now, policy);
  /** The stored state of a command, without the effects of the other commands. */
  const stateOf = (command: Command): State => states[commands.indexOf(command)] as State;
  return {
    stateOf,
    /** The outcome of a command after those that were previewed before, and the money that it would move. */
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
 * Commits any commands: locks their players, reads their state, decides them one after the other by domain.ts, and writes
 * the decisions. Returns the outcomes in the order of the commands.
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
