import { NotFound } from '@platform/service-kit/problem';
import { decimal } from '@platform/wallet-protocol/money';
import type { Context } from '../context.ts';
import type { RepairResult } from '../db/reconciliations.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import { differencesByNumber, type DifferenceRow } from './difference-queries.ts';
import {
  isTimeBeforeCompared,
  missingInRounds,
  readRoundFacts,
  receivedForOthers,
  type Missing,
} from './round-queries.ts';

export type Repair = Debit | Credit | Rollback;

/** The command that repairs a difference; undefined when the contract has none. The same one each time, so it is applied once. */
const commandOf = (difference: DifferenceRow): Repair | undefined => {
  const { repair, reconciliationId, number, transactionId, there, here } = difference;
  const side = repair === 'close_round' ? here : there;
  if (repair === 'ask_game_server' || !side?.roundId || !side.gameCode) return undefined;
  const { playerId, roundId, gameCode } = side;
  const common = { playerId, roundId, gameCode, isRepair: true } as const;
  if (repair === 'close_round') {
    // No id of the game server looks like this.
    const id = `reconciliation/${reconciliationId}/${number}`;
    return { ...common, operation: 'credit', transactionId: id, amount: 0, roundClosed: true };
  }
  const amount = Number(side.amount ?? 0);
  const roundClosed = side.roundClosed ?? false;
  if (side.operation === 'debit') return { ...common, operation: 'debit', transactionId, amount };
  if (side.operation === 'credit')
    return { ...common, operation: 'credit', transactionId, amount, roundClosed };
  return {
    ...common,
    operation: 'rollback',
    transactionId,
    reverses: side.reverseTransactionId ?? '',
    roundClosed,
  };
};

const order = ['debit', 'credit', 'rollback'];

type Placed = Pick<DifferenceRow, 'number' | 'there'>;

/** At the same time, or where times are unknown, what ends the round comes last, and debits before credits before rollbacks. */
const inRound = (a: Placed, b: Placed): number =>
  Number(a.there?.roundClosed ?? false) - Number(b.there?.roundClosed ?? false) ||
  order.indexOf(a.there?.operation ?? '') - order.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

/** As they happened at the game server. */
const inOrder = (a: Placed, b: Placed): number =>
  Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01') || inRound(a, b);

/** Whether one transaction comes before another, of which another statement may not give the time. */
const isBefore = (a: Placed, b: Placed): boolean =>
  (a.there?.time && b.there?.time ? inOrder(a, b) : inRound(a, b)) < 0;

const transactionOf = ({ playerId, transactionId }: Pick<DifferenceRow, 'playerId' | 'transactionId'>) =>
  `${playerId}\n${transactionId}`;

/** The reason when the transaction has arrived for another player: only the game server knows whose it is. */
export const receivedForAnother = 'received_for_another_player';

/** The outcome of one repair; `reason` when it waits for something else. */
type Decide = (row: DifferenceRow, command: Repair, reason?: string) => Promise<RepairResult> | RepairResult;

export interface Plan {
  rows: readonly DifferenceRow[];
  /** Decides all repairs in their order; returns one result for each difference. */
  walk(decide: Decide): Promise<RepairResult[]>;
  /** What the ledger would decide. Nothing is written to it, and no player is locked. */
  preview(): Promise<RepairResult[]>;
  /** A result; of a repair that is still to be made also what it moves: `moved`, or what it asks for. */
  viewOf(row: DifferenceRow, command?: Repair, balance?: string, moved?: bigint | null): RepairResult;
}

/**
 * Reads what repairs of a reconciliation depend on. They are made in the order of the times. A credit or rollback waits
 * (`earlier_first`) while an earlier transaction of its round is missing in any reconciliation: it may close the round,
 * and then its bet could never be taken. So does a credit of a round that the ledger does not know, as long as no
 * statement of the time before was compared, which may have its bet (`earlier_statement_first`). What has arrived for
 * another player meanwhile is not repaired (`receivedForAnother`). Throws NotFound.
 */
export const planRepairs = async (
  { database: { orm, sql }, ledger }: Context,
  id: string,
  numbers: readonly number[],
): Promise<Plan> => {
  const rows = (await differencesByNumber(orm, id, numbers)).toSorted(inOrder);
  if (rows.length < new Set(numbers).size) throw new NotFound('difference');
  const steps = rows.map((row) => ({
    row,
    command: row.state === 'applied' ? undefined : commandOf(row),
  }));
  const commands = steps.flatMap(({ command }) => command ?? []);
  const facts = await readRoundFacts(sql, commands);
  const factsOf = new Map(commands.map((command, at) => [command, facts[at]]));
  const playerIds = commands.map(({ playerId }) => playerId);
  const missing = await missingInRounds(
    sql,
    playerIds,
    facts.map(({ roundId }) => roundId),
  );
  const isCompared = await isTimeBeforeCompared(sql, id);
  const received = await receivedForOthers(sql, id, numbers);

  const viewOf = (
    { number, kind, playerId, repair, state, status, reason }: DifferenceRow,
    command?: Repair,
    balance?: string,
    moved?: bigint | null,
  ): RepairResult => ({
    number,
    kind,
    playerId,
    operation: command?.operation ?? null,
    repair,
    state,
    status,
    reason,
    amount: command === undefined ? null : decimal(moved ?? factsOf.get(command)?.amount ?? 0),
    currency: (command && factsOf.get(command)?.currency) ?? null,
    balance: balance === undefined ? null : decimal(balance),
  });

  const walk = async (decide: Decide): Promise<RepairResult[]> => {
    const repaired = new Set<string>();
    const reasonToWait = (row: DifferenceRow, command: Repair): string | undefined => {
      if (received.has(row.number)) return receivedForAnother;
      if (command.operation === 'debit') return undefined;
      const { roundId, isKnown = false } = factsOf.get(command) ?? { roundId: command.roundId };
      const isEarlier = (other: Missing): boolean =>
        other.playerId === command.playerId &&
        other.there?.roundId === roundId &&
        !repaired.has(transactionOf(other)) &&
        transactionOf(other) !== transactionOf(row) &&
        isBefore(other, row);
      if (missing.some(isEarlier)) return 'earlier_first';
      const isOpened = steps.some(
        (step) =>
          step.command?.playerId === command.playerId &&
          step.command.roundId === roundId &&
          repaired.has(transactionOf(step.row)),
      );
      return command.operation === 'rollback' || isKnown || isOpened || isCompared
        ? undefined
        : 'earlier_statement_first';
    };
    const views: RepairResult[] = [];
    for (const { row, command } of steps) {
      const view =
        command === undefined ? viewOf(row) : await decide(row, command, reasonToWait(row, command));
      if (view.status === 'OK') repaired.add(transactionOf(row));
      views.push(view);
    }
    return views;
  };

  return {
    rows,
    walk,
    viewOf,
    preview: async () => {
      const decision = await ledger.preview(sql, commands);
      return walk((row, command, waitsFor) => {
        if (waitsFor !== undefined) return viewOf({ ...row, status: null, reason: waitsFor }, command);
        const { status, reason = null, balance, moved } = decision(command);
        return viewOf({ ...row, status, reason }, command, balance, status === 'OK' ? moved : null);
      });
    },
  };
};
