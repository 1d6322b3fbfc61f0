import type { Call } from '@platform/wallet-conformance/history/call';

/** A line of the ledger, of one player; amounts in minor units. */
export interface LedgerEntry {
  /** Counts from 1 for each player, without gaps. */
  seq: number;
  transactionId: string;
  balanceAfter: number;
}

const answeredMoves = (calls: readonly Call[]): Call[] =>
  calls.filter(({ operation, status }) => operation !== 'balance' && status === 'OK');

/**
 * Compares the calls of one player with our own ledger, whose sequence says what came first: every answered move has
 * an entry with the balance of the answer, and a call that was answered before another was sent has the earlier entry.
 * @returns what is wrong, a sentence each
 */
export const replay = (calls: readonly Call[], entries: readonly LedgerEntry[]): string[] => {
  const byId = new Map(entries.map((entry) => [entry.transactionId, entry]));
  const faults: string[] = [];
  const gap = entries.findIndex(({ seq }, at) => seq !== (entries[0]?.seq ?? 0) + at);
  if (gap !== -1) faults.push(`the sequence has a gap before ${entries[gap]?.seq}`);
  const ends: { answered: number; seq: number }[] = [];
  for (const call of answeredMoves(calls).toSorted((a, b) => a.sent - b.sent)) {
    const { operation, transaction = '', sent, answered, balance } = call;
    const entry = byId.get(transaction);
    if (entry === undefined) {
      // A rollback that had nothing to reverse may leave no entry.
      if (operation !== 'rollback')
        faults.push(`${operation} ${transaction} was answered OK but has no entry`);
      continue;
    }
    if (operation !== 'rollback' && entry.balanceAfter !== balance)
      faults.push(
        `${operation} ${transaction} was answered with ${balance}, its entry says ${entry.balanceAfter}`,
      );
    const isFirst = !ends.some(({ seq }) => seq === entry.seq);
    const later = ends.find((end) => end.answered < sent && end.seq > entry.seq);
    if (isFirst && later !== undefined)
      faults.push(
        `${operation} ${transaction} has entry ${entry.seq}, before ${later.seq}, which was answered first`,
      );
    ends.push({ answered: answered ?? Infinity, seq: entry.seq });
  }
  return faults;
};
