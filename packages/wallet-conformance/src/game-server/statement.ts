import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Caller } from './caller.ts';

const text = z.string().default('');

/** A transaction in a statement of the game server. */
const StatementLine = z.object({
  transactionId: text,
  playerId: text,
  operation: z.enum(['debit', 'credit', 'rollback']),
  amount: text,
  currency: text,
  roundId: text,
  gameCode: text,
  roundClosed: z.union([z.boolean(), z.literal('')]).default(''),
  reverseTransactionId: text,
  time: text,
});

export type StatementLine = z.output<typeof StatementLine>;

/** After this many retries without an answer the operator is considered down. */
const maxRetries = 1000;

/**
 * A caller of debits, credits and rollbacks that adds each accepted one to `lines`. It retries a credit until it is answered,
 * and throws if it never is. If a debit is rolled back, the statement contains both, even if the debit had no answer.
 */
export const recordingCaller = (caller: Caller, currency: string, lines: StatementLine[]): Caller => {
  const debits = new Map<string, StatementLine>();
  const record = (line: StatementLine): void => {
    const debit = debits.get(line.reverseTransactionId);
    if (debit !== undefined && !lines.includes(debit)) lines.push(debit);
    lines.push({ ...line, amount: debit?.amount ?? line.amount });
  };
  return {
    ...caller,
    call: async (callback, fields) => {
      const line = StatementLine.parse({
        gameCode: 'gameId' in fields ? fields.gameId : undefined,
        ...fields,
        operation: callback,
        currency,
        time: new Date().toISOString(),
      });
      if (callback === 'debit') debits.set(line.transactionId, line);
      let answer = await caller.call(callback, fields);
      for (let retries = maxRetries; callback === 'credit' && answer.http === 0; retries--) {
        if (retries === 0) throw new Error('the operator does not answer');
        answer = await caller.call(callback, fields);
      }
      if (answer.status === 'OK') record(line);
      return answer;
    },
  };
};

/**
 * A caller that loses some rounds: from a random callback of the round on, nothing is sent to the operator, and every
 * callback counts as accepted. Adds the ids of these transactions to `unsent`.
 */
export const roundLosingCaller = (
  caller: Caller,
  rate: number,
  random: () => number,
  unsent: Set<string>,
): Caller => {
  const lostRounds = new Set<string>();
  return {
    ...caller,
    call: async (callback, fields) => {
      const { roundId = '', transactionId = '' } = fields as Partial<StatementLine>;
      if (random() < rate) lostRounds.add(roundId);
      if (!lostRounds.has(roundId)) return caller.call(callback, fields);
      unsent.add(transactionId);
      return { http: 200, status: 'OK' };
    },
  };
};

/** A fault in a statement; `kind` is the difference that a reconciliation must report. */
export interface Fault {
  kind: string;
  operation: StatementLine['operation'];
  transactionId: string;
}

/** Returns the lines that replace a line; undefined when the line cannot have this mistake. */
type Mistake = (line: StatementLine, isReversed: boolean) => StatementLine[] | undefined;

const changed =
  (change: (line: StatementLine) => Partial<StatementLine> | undefined): Mistake =>
  (line) => {
    const changes = change(line);
    return changes && [{ ...line, ...changes }];
  };

/** A mistake for each kind of difference, except `missing_here`, which comes from transactions that were not sent. */
const mistakes: Record<string, Mistake> = {
  // A missing debit that was reversed would not be a difference.
  missing_there: (_, isReversed) => (isReversed ? undefined : []),
  amount: changed(({ amount }) => ({ amount: (Number(amount) + 1).toFixed(2) })),
  player: changed(() => ({ playerId: randomUUID() })),
  currency: changed(() => ({ currency: 'SEK' })),
  parameters: changed(() => ({ gameCode: 'another-game' })),
  // Only from true to false: a line changed to true would not differ if the round was closed later.
  round_state: changed(({ roundClosed }) => (roundClosed === true ? { roundClosed: false } : undefined)),
  duplicate: (line) => [line, line],
  time: changed(({ time }) => ({ time: new Date(Date.parse(time) - 7_200_000).toISOString() })),
};

/**
 * Returns a copy of a statement with mistakes, at most one per line, and the list of the mistakes. The lines of `unsent`
 * are not changed: they exist only in the statement, which is already a difference.
 */
export const withFaults = (
  lines: readonly StatementLine[],
  rate: number,
  random: () => number,
  unsent: ReadonlySet<string>,
): { lines: StatementLine[]; faults: Fault[] } => {
  const reversed = new Set(lines.map(({ reverseTransactionId }) => reverseTransactionId));
  const faults: Fault[] = [];
  const nextKind = { debit: 0, credit: 0, rollback: 0 };
  const kinds = Object.entries(mistakes);
  const result = lines.flatMap((line) => {
    const { operation, transactionId } = line;
    if (unsent.has(transactionId)) {
      faults.push({ kind: 'missing_here', operation, transactionId });
      return [line];
    }
    if (random() >= rate) return [line];
    // Each operation gets all kinds of mistakes in turn, except kinds that the line cannot have.
    for (let attempt = 0; attempt < kinds.length; attempt++) {
      const [kind = '', mistake] = kinds[nextKind[operation]++ % kinds.length] ?? [];
      const wrongLines = mistake?.(line, reversed.has(transactionId));
      if (wrongLines === undefined) continue;
      faults.push({ kind, operation, transactionId });
      return wrongLines;
    }
    return [line];
  });
  return { lines: result, faults };
};

/** The statement as text with one JSON object per line. */
export const jsonLines = (lines: readonly StatementLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');
