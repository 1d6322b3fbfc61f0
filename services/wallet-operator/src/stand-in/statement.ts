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
 * without an answer is rolled back. Throws when a win gets no answer at all.
 */
export const recordingCaller = (caller: Caller, currency: string, lines: Line[]): Caller => ({
  ...caller,
  call: async (callback, fields) => {
    let answer = await caller.call(callback, fields);
    for (let more = mostRepeats; callback === 'credit' && answer.http === 0; more--) {
      if (more === 0) throw new Error('the operator does not answer');
      answer = await caller.call(callback, fields);
    }
    if (answer.status !== 'OK' || !operations.includes(callback)) return answer;
    const sent = fields as Partial<Line> & { gameId?: string };
    lines.push({
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
    });
    return answer;
  },
});

/** A fault that was put into a statement, and the difference that a reconciliation should find. */
export interface Fault {
  kind: string;
  transactionId: string;
}

type Mistake = (line: Line) => { lines: Line[]; transactionId?: string } | undefined;

const changed =
  (change: (line: Line) => Partial<Line> | undefined): Mistake =>
  (line) => {
    const changes = change(line);
    return changes && { lines: [{ ...line, ...changes }] };
  };

const invented = (line: Line): Line => ({
  ...line,
  transactionId: randomUUID(),
  roundId: randomUUID(),
  operation: 'credit',
  amount: '0.07',
  roundClosed: true,
  reverseTransactionId: '',
});

/** One for each kind of difference. Undefined: the line cannot have this mistake. */
const mistakes: Record<string, Mistake> = {
  missing_here: (line) => {
    const more = invented(line);
    return { lines: [line, more], transactionId: more.transactionId };
  },
  // A rollback that is left out changes nothing when its debit failed.
  missing_there: ({ operation }) => (operation === 'rollback' ? undefined : { lines: [] }),
  amount: changed(({ operation, amount }) =>
    operation === 'rollback' ? undefined : { amount: (Number(amount) + 1).toFixed(2) },
  ),
  player: changed(() => ({ playerId: randomUUID() })),
  currency: changed(() => ({ currency: 'SEK' })),
  parameters: changed(() => ({ gameCode: 'another-game' })),
  round_state: changed(({ operation, roundClosed }) =>
    operation === 'credit' ? { roundClosed: !roundClosed } : undefined,
  ),
  duplicate: (line) => ({ lines: [line, line] }),
  time: changed(({ time }) => ({ time: new Date(Date.parse(time) - 7_200_000).toISOString() })),
};

/**
 * A copy of a statement with mistakes, each in another line, and what they are. A debit that is rolled back, and its
 * rollback, stay as they are: most mistakes in them cancel out.
 */
export const withFaults = (
  lines: readonly Line[],
  rate: number,
  random: () => number,
): { lines: Line[]; faults: Fault[] } => {
  const reversed = new Set(lines.map(({ reverseTransactionId }) => reverseTransactionId));
  const faults: Fault[] = [];
  const kinds = Object.entries(mistakes);
  const result = lines.flatMap((line) => {
    if (line.operation === 'rollback' || reversed.has(line.transactionId) || random() >= rate) return [line];
    // All kinds in turn, each in the next line that can have it.
    const [kind = '', mistake] = kinds[faults.length % kinds.length] ?? [];
    const made = mistake?.(line);
    if (made === undefined) return [line];
    faults.push({ kind, transactionId: made.transactionId ?? line.transactionId });
    return made.lines;
  });
  return { lines: result, faults };
};

/** One JSON object a line. */
export const jsonLines = (lines: readonly Line[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');
