import { randomUUID } from 'node:crypto';
import type { Caller } from './caller.ts';

/** A transaction as a statement of the game server has it. */
export interface Line {
  transactionId: string;
  playerId: string;
  operation: 'debit' | 'credit' | 'rollback';
  amount: string;
  currency: string;
  roundId: string;
  gameCode: string;
  roundClosed: boolean | '';
  reverseTransactionId: string;
  time: string;
}

/** More in a row are no lost answers: the operator is down. */
const mostRepeats = 1000;

const operations: readonly string[] = ['debit', 'credit', 'rollback'];

/**
 * Calls the operator and adds each transaction that it accepted to `lines`. A win is sent until it is answered; a bet
 * without an answer is rolled back, and then both are in the statement. Throws when a win gets no answer at all.
 */
export const recordingCaller = (caller: Caller, currency: string, lines: Line[]): Caller => {
  const bets = new Map<string, Line>();
  const record = (line: Line): void => {
    const bet = bets.get(line.reverseTransactionId);
    if (bet !== undefined && !lines.includes(bet)) lines.push(bet);
    lines.push({ ...line, amount: bet?.amount ?? line.amount });
  };
  return {
    ...caller,
    call: async (callback, fields) => {
      const sent = fields as Partial<Line> & { gameId?: string };
      const line: Line = {
        transactionId: sent.transactionId ?? '',
        playerId: sent.playerId ?? '',
        operation: callback as Line['operation'],
        amount: sent.amount ?? '',
        currency,
        roundId: sent.roundId ?? '',
        gameCode: sent.gameCode ?? sent.gameId ?? '',
        roundClosed: sent.roundClosed ?? '',
        reverseTransactionId: sent.reverseTransactionId ?? '',
        time: new Date().toISOString(),
      };
      if (callback === 'debit') bets.set(line.transactionId, line);
      let answer = await caller.call(callback, fields);
      for (let more = mostRepeats; callback === 'credit' && answer.http === 0; more--) {
        if (more === 0) throw new Error('the operator does not answer');
        answer = await caller.call(callback, fields);
      }
      if (answer.status === 'OK' && operations.includes(callback)) record(line);
      return answer;
    },
  };
};

/**
 * Some rounds end without the operator: from a random callback of the round on, nothing is sent, and all is taken as
 * accepted. Adds the ids of these transactions to `unsent`.
 */
export const losingCaller = (
  caller: Caller,
  rate: number,
  random: () => number,
  unsent: Set<string>,
): Caller => {
  const lostRounds = new Set<string>();
  return {
    ...caller,
    call: async (callback, fields) => {
      const { roundId = '', transactionId = '' } = fields as Partial<Line>;
      if (random() < rate) lostRounds.add(roundId);
      if (!lostRounds.has(roundId)) return caller.call(callback, fields);
      unsent.add(transactionId);
      return { http: 200, status: 'OK' };
    },
  };
};

/** A fault that was put into a line of a statement, and the difference that a reconciliation should find. */
export interface Fault {
  kind: string;
  operation: Line['operation'];
  transactionId: string;
}

/** The lines with the mistake. Undefined: the line cannot have it. */
type Mistake = (line: Line, isReversed: boolean) => Line[] | undefined;

const changed =
  (change: (line: Line) => Partial<Line> | undefined): Mistake =>
  (line) => {
    const changes = change(line);
    return changes && [{ ...line, ...changes }];
  };

/** One for each kind of difference, except `missing_here`: those are transactions that were not sent. */
const mistakes: Record<string, Mistake> = {
  // A debit that is left out changes nothing when it is reversed.
  missing_there: (_, isReversed) => (isReversed ? undefined : []),
  amount: changed(({ amount }) => ({ amount: (Number(amount) + 1).toFixed(2) })),
  player: changed(() => ({ playerId: randomUUID() })),
  currency: changed(() => ({ currency: 'SEK' })),
  parameters: changed(() => ({ gameCode: 'another-game' })),
  // The other way round, the round may be closed by now.
  round_state: changed(({ roundClosed }) => (roundClosed === true ? { roundClosed: false } : undefined)),
  duplicate: (line) => [line, line],
  time: changed(({ time }) => ({ time: new Date(Date.parse(time) - 7_200_000).toISOString() })),
};

/**
 * A copy of a statement with mistakes, each in another line, and what they are. The lines of `unsent`, which only the
 * statement has, stay as they are.
 */
export const withFaults = (
  lines: readonly Line[],
  rate: number,
  random: () => number,
  unsent: ReadonlySet<string>,
): { lines: Line[]; faults: Fault[] } => {
  const reversed = new Set(lines.map(({ reverseTransactionId }) => reverseTransactionId));
  const faults: Fault[] = [];
  const next = { debit: 0, credit: 0, rollback: 0 };
  const kinds = Object.entries(mistakes);
  const result = lines.flatMap((line) => {
    const { operation, transactionId } = line;
    if (unsent.has(transactionId)) {
      faults.push({ kind: 'missing_here', operation, transactionId });
      return [line];
    }
    if (random() >= rate) return [line];
    // Each operation gets all kinds of mistakes in turn, except those that its line cannot have.
    for (let tried = 0; tried < kinds.length; tried++) {
      const [kind = '', mistake] = kinds[next[operation]++ % kinds.length] ?? [];
      const wrongLines = mistake?.(line, reversed.has(transactionId));
      if (wrongLines === undefined) continue;
      faults.push({ kind, operation, transactionId });
      return wrongLines;
    }
    return [line];
  });
  return { lines: result, faults };
};

/** One JSON object a line. */
export const jsonLines = (lines: readonly Line[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');
