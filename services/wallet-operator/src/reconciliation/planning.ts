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

type Placed = Pick<DifferenceView, 'number' | 'there'>;

const order = ['debit', 'credit', 'rollback'];

/** At the same time, or where times are unknown, what ends the round comes last, and debits before credits before rollbacks. */
const inRound = (a: Placed, b: Placed): number =>
  Number(a.there?.roundClosed ?? false) - Number(b.there?.roundClosed ?? false) ||
  order.indexOf(a.there?.operation ?? '') - order.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

/** As they happened at the game server. */
export const inOrder = (a: Placed, b: Placed): number =>
  Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01') || inRound(a, b);

/** Whether one transaction comes before another, of which another statement may not give the time. */
export const isBefore = (a: Placed, b: Placed): boolean =>
  (a.there?.time && b.there?.time ? inOrder(a, b) : inRound(a, b)) < 0;

/** Names a round of a player. */
export const roundKey = (playerId: string, roundId: string | null | undefined): string =>
  `${playerId}\n${roundId}`;

const transactionKey = ({ playerId, transactionId }: Omit<Missing, 'number' | 'there'>): string =>
  `${playerId}\n${transactionId}`;

/** Missing transactions by round, sorted once: a round may have very many. */
export const createMissingRounds = (missing: readonly Missing[]) => {
  const repaired = new Set<string>();
  const isRepaired = (row: Missing): boolean => repaired.has(transactionKey(row));
  // Two transactions compare by time only where both have one, so the earliest is first in one of these three lists.
  const listsOf = (ofRound: readonly Missing[]): Missing[][] => {
    const { timed = [], untimed = [] } = Object.groupBy(ofRound, ({ there }) =>
      there?.time ? 'timed' : 'untimed',
    );
    return [timed.toSorted(inOrder), timed.toSorted(inRound), untimed.toSorted(inRound)].map((list) =>
      list.toReversed(),
    );
  };
  const rounds = new Map(
    [...Map.groupBy(missing, ({ playerId, there }) => roundKey(playerId, there?.roundId))].map(
      ([round, ofRound]) => [round, listsOf(ofRound)],
    ),
  );
  return {
    /** Others do not wait for this transaction any more, in any statement. */
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

/** The command that repairs a difference; undefined when the contract has none. The same one each time, so it is applied once. */
const commandOf = (reconciliationId: string, difference: DifferenceView): Repair | undefined => {
  const { repair, state, number, transactionId, there, here } = difference;
  const side = repair === 'close_round' ? here : there;
  if (state === 'applied' || repair === 'ask_game_server' || !side?.roundId || !side.gameCode)
    return undefined;
  const { playerId, roundId, gameCode } = side;
  const common = { playerId, transactionId, roundId, gameCode, isRepair: true } as const;
  if (repair === 'close_round') {
    // No id of the game server looks like this.
    const id = `reconciliation/${reconciliationId}/${number}`;
    return { ...common, operation: 'credit', transactionId: id, amount: 0, roundClosed: true };
  }
  const amount = minorUnits(side.amount ?? '0');
  const roundClosed = side.roundClosed ?? false;
  if (side.operation === 'debit') return { ...common, operation: 'debit', amount };
  if (side.operation === 'credit') return { ...common, operation: 'credit', amount, roundClosed };
  return { ...common, operation: 'rollback', reverses: side.reverseTransactionId ?? '', roundClosed };
};

/** What a repair concerns. A rollback gives back its debit, in the round of the debit, which may be another than it names. */
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
    /** What it asks for, in minor units. */
    amount: command.operation === 'rollback' ? stake : command.amount,
  };
};

/** The reason when the transaction has arrived for another player: only the game server knows whose it is. */
export const receivedForAnother = 'received_for_another_player';

/** Decides one repair; `waitsFor`: the reason when it waits for something else. */
type Decide = (
  row: DifferenceView,
  command: Repair,
  waitsFor: string | undefined,
) => Promise<RepairResult> | RepairResult;

/**
 * Reads what repairs of a reconciliation depend on. They are made in the order of the times. A credit or rollback waits
 * (`earlier_first`) while an earlier transaction of its round is missing in any reconciliation: it may close the round,
 * and then its bet could never be taken. So does one of a round that the ledger does not know, as long as the time before
 * was not compared, whose statement may have its bet (`earlier_statement_first`). What has arrived for another player
 * meanwhile is not repaired (`receivedForAnother`). Throws NotFound.
 */
export const planRepairs = async (
  { database: { sql }, ledger }: Context,
  id: string,
  numbers: readonly number[],
) => {
  const rows = (await findDifferences(sql, id, numbers)).toSorted(inOrder);
  if (rows.length < new Set(numbers).size) throw new NotFound('difference');
  const commands = rows.map((row) => commandOf(id, row));
  const repairs = commands.filter((command) => command !== undefined);
  const { stateOf, decide } = await ledger.preview(sql, repairs);
  const facts = new Map(repairs.map((command) => [command, factsOf(command, stateOf(command))]));
  const missing = await missingInRounds(
    sql,
    repairs.map(({ playerId }) => playerId),
    [...facts.values()].map(({ roundId }) => roundId),
    rows.map(({ transactionId }) => transactionId),
  );
  const isCompared = await isTimeBeforeCompared(sql, id);
  const received = await receivedForOthers(sql, id, numbers);

  /** A result; of a repair also what it moves (in minor units), or what it asks for as long as that is not known. */
  const viewOf = (
    { number, kind, playerId, repair, state, status, reason }: DifferenceView,
    command?: Repair,
    balance?: string,
    moved?: bigint | string | null,
  ): RepairResult => {
    const known = command && facts.get(command);
    return {
      number,
      kind,
      playerId,
      operation: command?.operation ?? null,
      repair,
      state,
      status,
      reason,
      amount: known ? decimal(moved ?? known.amount) : null,
      currency: known?.currency ?? null,
      balance: balance === undefined ? null : decimal(balance),
    };
  };

  /** Decides all repairs in their order; returns one result for each difference. */
  const walk = async (decideRepair: Decide): Promise<RepairResult[]> => {
    const missingRounds = createMissingRounds(missing);
    const opened = new Set<string>();
    const reasonToWait = (row: DifferenceView, command: Repair): string | undefined => {
      const { roundOfPlayer = '', isKnownRound } = facts.get(command) ?? {};
      if (received.has(row.number)) return receivedForAnother;
      if (command.operation === 'debit') return undefined;
      if (missingRounds.hasEarlier(roundOfPlayer, row)) return 'earlier_first';
      return isKnownRound || isCompared || opened.has(roundOfPlayer) ? undefined : 'earlier_statement_first';
    };
    const results: RepairResult[] = [];
    for (const [at, row] of rows.entries()) {
      const command = commands[at];
      const result = command ? await decideRepair(row, command, reasonToWait(row, command)) : viewOf(row);
      if (result.status === 'OK') {
        missingRounds.markRepaired(row);
        if (command) opened.add(roundKey(command.playerId, command.roundId));
      }
      results.push(result);
    }
    return results;
  };

  /** What the ledger would decide. */
  const forecast = await walk((row, command, waitsFor) => {
    if (waitsFor !== undefined) return viewOf({ ...row, status: null, reason: waitsFor }, command);
    const { status, reason = null, balance, moved } = decide(command);
    return viewOf({ ...row, status, reason }, command, balance, status === 'OK' ? moved : null);
  });
  return { rows, forecast, walk, viewOf };
};

export type Plan = Awaited<ReturnType<typeof planRepairs>>;
