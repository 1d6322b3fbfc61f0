import { NotFound } from '@platform/service-kit/problem';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { Context } from '../context.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import { roundOfRollback } from '../ledger/domain.ts';
import type { State } from '../ledger/state.ts';
import type { RepairResult } from './difference.ts';
import type { DifferenceView } from './queries.ts';
import {
  findDifferences,
  isTimeBeforeCompared,
  missingInRounds,
  receivedForOthers,
  type Missing,
} from './repair-queries.ts';

type StatedTransaction = Pick<DifferenceView, 'number' | 'there'>;

const operationOrder = ['debit', 'credit', 'rollback'];

/** Sorts transactions of a round without times: the one that closes the round last; debits, then credits, then rollbacks. */
const compareInRound = (a: StatedTransaction, b: StatedTransaction): number =>
  Number(a.there?.roundClosed ?? false) - Number(b.there?.roundClosed ?? false) ||
  operationOrder.indexOf(a.there?.operation ?? '') - operationOrder.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

const timeOf = ({ there }: StatedTransaction): number => Date.parse(there?.time ?? '1970-01-01');

/** Sorts transactions in the order in which they happened at the game server. */
const compareByTime = (a: StatedTransaction, b: StatedTransaction): number =>
  timeOf(a) - timeOf(b) || compareInRound(a, b);

/** Whether `a` comes before `b`. If one of them has no time, their place in the round decides. */
export const isBefore = (a: StatedTransaction, b: StatedTransaction): boolean =>
  (a.there?.time && b.there?.time ? compareByTime(a, b) : compareInRound(a, b)) < 0;

export const roundKey = (playerId: string, roundId: string | null | undefined): string =>
  `${playerId}\n${roundId}`;

const transactionKey = ({ playerId, transactionId }: Omit<Missing, 'number' | 'there'>): string =>
  `${playerId}\n${transactionId}`;

/** Indexes missing transactions by round. Sorts them once, because a round may have very many. */
export const createMissingRounds = (missing: readonly Missing[]) => {
  const repaired = new Set<string>();
  const isRepaired = (row: Missing): boolean => repaired.has(transactionKey(row));
  // `isBefore` uses times only if both transactions have one, so the earliest is the last of one of these three lists.
  const latestFirst = (ofRound: readonly Missing[]): Missing[][] => {
    const timed = ofRound.filter(({ there }) => there?.time);
    const untimed = ofRound.filter(({ there }) => !there?.time);
    const sorted = [
      timed.toSorted(compareByTime),
      timed.toSorted(compareInRound),
      untimed.toSorted(compareInRound),
    ];
    return sorted.map((list) => list.toReversed());
  };
  const byRound = Map.groupBy(missing, ({ playerId, there }) => roundKey(playerId, there?.roundId));
  const rounds = new Map([...byRound].map(([round, ofRound]) => [round, latestFirst(ofRound)]));
  return {
    /** From now on no transaction waits for this one, whichever statement it is in. */
    markRepaired: (row: Missing): void => void repaired.add(transactionKey(row)),
    /** Whether another transaction of the round is missing that comes before this one. */
    hasEarlier: (round: string, row: Missing): boolean =>
      (rounds.get(round) ?? []).some((list) => {
        for (let last = list.at(-1); last && isRepaired(last); last = list.at(-1)) list.pop();
        const own = transactionKey(row);
        const earliest = list.findLast((other) => transactionKey(other) !== own && !isRepaired(other));
        return earliest !== undefined && isBefore(earliest, row);
      }),
  };
};

export type Repair = Debit | Credit | Rollback;

/**
 * The command that repairs a difference; undefined when there is none. It always has the same transaction id, so the ledger
 * applies it only once.
 */
const commandOf = (reconciliationId: string, difference: DifferenceView): Repair | undefined => {
  const { repair, state, number, transactionId, there, here } = difference;
  const side = repair === 'close_round' ? here : there;
  if (state === 'applied' || repair === 'ask_game_server' || !side?.roundId || !side.gameCode)
    return undefined;
  const { playerId, roundId, gameCode } = side;
  const common = { playerId, transactionId, roundId, gameCode, isRepair: true } as const;
  if (repair === 'close_round') {
    // Cannot collide with ids of the game server, because it contains the random id of the reconciliation.
    const id = `reconciliation/${reconciliationId}/${number}`;
    return { ...common, operation: 'credit', transactionId: id, amount: 0, roundClosed: true };
  }
  const amount = minorUnits(side.amount ?? '0');
  const roundClosed = side.roundClosed ?? false;
  if (side.operation === 'debit') return { ...common, operation: 'debit', amount };
  if (side.operation === 'credit') return { ...common, operation: 'credit', amount, roundClosed };
  return { ...common, operation: 'rollback', reverses: side.reverseTransactionId ?? '', roundClosed };
};

/** Round and money of a repair. A rollback returns the amount of its debit, in the round of the debit. */
const factsOf = (command: Repair, state: State) => {
  const { player, target, round } = state;
  const isReversible = target?.operation === 'debit' && target.playerId === command.playerId;
  const stake = isReversible ? -target.amount : 0n;
  const roundId = command.operation === 'rollback' ? roundOfRollback(state, command) : command.roundId;
  return {
    roundId,
    roundOfPlayer: roundKey(command.playerId, roundId),
    isKnownRound: round !== null,
    currency: player?.currency ?? null,
    /** Minor units. */
    amount: command.operation === 'rollback' ? stake : command.amount,
  };
};

/** The reason not to repair a transaction that has arrived for another player: only the game server knows whose it is. */
export const receivedForAnother = 'received_for_another_player';

/** Decides one repair; `reasonToWait` is defined when it must not be applied yet. */
type Decide = (
  row: DifferenceView,
  command: Repair,
  reasonToWait: string | undefined,
) => Promise<RepairResult> | RepairResult;

/**
 * Reads the state that repairs of a reconciliation depend on, and decides in which order they are made. Throws NotFound.
 *
 * Repairs are made in the order of their times. A credit or rollback must wait in two cases, because it may close the round,
 * and a bet of a closed round is refused:
 * - `earlier_first`: an earlier transaction of its round is missing in any reconciliation
 * - `earlier_statement_first`: the ledger does not know the round, and the time before the period was not compared
 */
export const planRepairs = async (
  { database: { sql }, ledger }: Context,
  id: string,
  numbers: readonly number[],
) => {
  const rows = (await findDifferences(sql, id, numbers)).toSorted(compareByTime);
  if (rows.length < new Set(numbers).size) throw new NotFound('difference');
  const commands = rows.map((row) => commandOf(id, row));
  const repairs = commands.filter((command) => command !== undefined);
  const { stateOf, decide } = await ledger.preview(sql, repairs);
  const factsByCommand = new Map(repairs.map((command) => [command, factsOf(command, stateOf(command))]));
  const missing = await missingInRounds(
    sql,
    repairs.map(({ playerId }) => playerId),
    [...factsByCommand.values()].map(({ roundId }) => roundId),
    rows.map(({ transactionId }) => transactionId),
  );
  const isEarlierCompared = await isTimeBeforeCompared(sql, id);
  const received = await receivedForOthers(sql, id, numbers);

  /** The result for a difference; `moved` is the amount in minor units, by default that of the command. */
  const viewOf = (
    { number, kind, playerId, repair, state, status, reason }: DifferenceView,
    command?: Repair,
    balance?: string,
    moved?: bigint | string | null,
  ): RepairResult => {
    const facts = command && factsByCommand.get(command);
    return {
      number,
      kind,
      playerId,
      operation: command?.operation ?? null,
      repair,
      state,
      status,
      reason,
      amount: facts ? decimal(moved ?? facts.amount) : null,
      currency: facts?.currency ?? null,
      balance: balance === undefined ? null : decimal(balance),
    };
  };

  /** Decides all repairs in order; returns one result for each difference. */
  const decideInOrder = async (decideRepair: Decide): Promise<RepairResult[]> => {
    const missingRounds = createMissingRounds(missing);
    const openedRounds = new Set<string>();
    const reasonToWaitOf = (row: DifferenceView, command: Repair): string | undefined => {
      const { roundOfPlayer = '', isKnownRound } = factsByCommand.get(command) ?? {};
      if (received.has(row.number)) return receivedForAnother;
      if (command.operation === 'debit') return undefined;
      if (missingRounds.hasEarlier(roundOfPlayer, row)) return 'earlier_first';
      const isBetKnown = isKnownRound || isEarlierCompared || openedRounds.has(roundOfPlayer);
      return isBetKnown ? undefined : 'earlier_statement_first';
    };
    const results: RepairResult[] = [];
    for (const [index, row] of rows.entries()) {
      const command = commands[index];
      const result = command ? await decideRepair(row, command, reasonToWaitOf(row, command)) : viewOf(row);
      if (result.status === 'OK') {
        missingRounds.markRepaired(row);
        if (command) openedRounds.add(roundKey(command.playerId, command.roundId));
      }
      results.push(result);
    }
    return results;
  };

  /** What the ledger would decide now. */
  const forecast = await decideInOrder((row, command, reasonToWait) => {
    if (reasonToWait !== undefined) return viewOf({ ...row, status: null, reason: reasonToWait }, command);
    const { status, reason = null, balance, moved } = decide(command);
    return viewOf({ ...row, status, reason }, command, balance, status === 'OK' ? moved : null);
  });
  return { rows, forecast, decideInOrder, viewOf };
};

export type Plan = Awaited<ReturnType<typeof planRepairs>>;
