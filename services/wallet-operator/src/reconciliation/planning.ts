import { NotFound } from '@platform/service-kit/problem';
import { decimal } from '@platform/wallet-protocol/money';
import type { Context } from '../context.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import type { RepairResult } from './difference.ts';
import { listDifferences, type DifferenceRow } from './difference-queries.ts';
import { createMissingRounds, inOrder, roundKey } from './missing.ts';
import { isTimeBeforeCompared, missingInRounds, readRoundFacts, receivedForOthers } from './round-queries.ts';

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

/** The reason when the transaction has arrived for another player: only the game server knows whose it is. */
export const receivedForAnother = 'received_for_another_player';

/** The outcome of one repair; `reason` when it waits for something else. */
type Decide = (row: DifferenceRow, command: Repair, reason?: string) => Promise<RepairResult> | RepairResult;

/**
 * Reads what repairs of a reconciliation depend on. They are made in the order of the times. A credit or rollback waits
 * (`earlier_first`) while an earlier transaction of its round is missing in any reconciliation: it may close the round,
 * and then its bet could never be taken. So does one of a round that the ledger does not know, as long as the time before
 * was not compared, whose statement may have its bet (`earlier_statement_first`). What has arrived for another player
 * meanwhile is not repaired (`receivedForAnother`). Throws NotFound.
 */
export const planRepairs = async (
  { database: { orm, sql }, ledger }: Context,
  id: string,
  numbers: readonly number[],
) => {
  const rows = (await listDifferences(orm, id, { numbers })).toSorted(inOrder);
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
    rows.map(({ transactionId }) => transactionId),
  );
  const isCompared = await isTimeBeforeCompared(sql, id);
  const received = await receivedForOthers(sql, id, numbers);

  /** A result; of a repair that is still to be made also what it moves: `moved`, or what it asks for. */
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

  /** Decides all repairs in their order; returns one result for each difference. */
  const walk = async (decide: Decide): Promise<RepairResult[]> => {
    const missingRounds = createMissingRounds(missing);
    const opened = new Set<string>();
    const reasonToWait = (row: DifferenceRow, command: Repair): string | undefined => {
      if (received.has(row.number)) return receivedForAnother;
      if (command.operation === 'debit') return undefined;
      const { roundId, isKnown = false } = factsOf.get(command) ?? { roundId: command.roundId };
      const round = roundKey(command.playerId, roundId);
      if (missingRounds.hasEarlier(round, row)) return 'earlier_first';
      return isKnown || isCompared || opened.has(round) ? undefined : 'earlier_statement_first';
    };
    const views: RepairResult[] = [];
    for (const { row, command } of steps) {
      const view =
        command === undefined ? viewOf(row) : await decide(row, command, reasonToWait(row, command));
      if (view.status === 'OK') {
        missingRounds.markRepaired(row);
        if (command !== undefined) opened.add(roundKey(command.playerId, command.roundId));
      }
      views.push(view);
    }
    return views;
  };

  return {
    rows,
    walk,
    viewOf,
    /** What the ledger would decide. Nothing is written to it, and no player is locked. */
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

export type Plan = Awaited<ReturnType<typeof planRepairs>>;
