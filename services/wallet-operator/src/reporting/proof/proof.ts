import type { ISql, Sql } from 'postgres';
import { checkCounters } from '../../limits/proof.ts';
import { takeRuns } from '../../sealing/sealing.ts';
import { headFault, type Run } from '../../sealing/verify.ts';
import { databaseNow } from '../../db/time.ts';
import {
  headsAfter,
  maxViolations,
  useIndexes,
  violation,
  violationsOfRuns,
  type Head,
  type Violation,
} from './queries.ts';

/** Players whose heads are read in one statement, and entries that are checked in one. */
const playersAtOnce = 1000;
const entriesAtOnce = 20_000;

const violationsOfHead = (head: Head): Violation[] => {
  const { playerId, balance, seq, sealedSeq, oldestSeq, newestSeq, newestBalance } = head;
  if (seq === null) return [violation('entries_without_player', `entries up to ${newestSeq}`, playerId)];
  const isWhole = seq === newestSeq && (oldestSeq ?? '1') === '1' && BigInt(sealedSeq) <= BigInt(seq);
  const gap = `newest ${seq}, sealed up to ${sealedSeq}, entries from ${oldestSeq} to ${newestSeq}`;
  const difference = `balance ${balance}, after the newest entry ${newestBalance}`;
  return [
    ...(isWhole ? [] : [violation('sequence_has_gap', gap, playerId)]),
    ...(balance === newestBalance ? [] : [violation('balance_differs', difference, playerId)]),
  ];
};

/** What is not sealed of a player. */
const unsealedRun = ({ playerId, sealedSeq, newestSeq }: Head): Run[] => {
  const firstSeq = BigInt(sealedSeq) + 1n;
  return firstSeq > BigInt(newestSeq) ? [] : [{ playerId, firstSeq: String(firstSeq), lastSeq: newestSeq }];
};

/** The runs without those that were taken. */
const remaining = (runs: readonly Run[], taken: readonly Run[]): Run[] => {
  const [cut, ...others] = runs.slice(taken.length - 1);
  const lastSeq = taken.at(-1)?.lastSeq ?? '0';
  if (cut === undefined || cut.lastSeq === lastSeq) return others;
  return [{ ...cut, firstSeq: String(BigInt(lastSeq) + 1n) }, ...others];
};

/** What does not add up in any number of entries. Of a player with a missing entry, no further ones are read. */
export const checkRuns = async (sql: ISql, runs: readonly Run[]): Promise<Violation[]> => {
  const violations: Violation[] = [];
  for (let unchecked = [...runs]; unchecked.length > 0;) {
    const taken = takeRuns(unchecked, entriesAtOnce);
    const violationsOfTaken = await violationsOfRuns(sql, taken);
    violations.push(...violationsOfTaken);
    const damaged = new Set(
      violationsOfTaken.filter(({ kind }) => kind === 'sequence_has_gap').map(({ playerId }) => playerId),
    );
    unchecked = remaining(unchecked, taken).filter(({ playerId }) => !damaged.has(playerId));
  }
  return violations;
};

export interface Findings {
  /** ISO 8601: the time of the snapshot. */
  checkedAt: string;
  players: number;
  entries: number;
  violations: Violation[];
}

/**
 * Checks, in one snapshot, the newest checkpoint, the balance of every player against the newest entry, all entries since
 * the last seal, and the counters of limits. It only reads, so callbacks go on meanwhile; what they commit after the
 * snapshot is not seen. No statement reads more than some players and entries; what is sealed, the walk checks.
 */
export const checkUnsealed = (sql: Sql): Promise<Findings> =>
  sql.begin('isolation level repeatable read read only', async (snapshot) => {
    await useIndexes(snapshot);
    const checkedAt = (await databaseNow(snapshot)).toISOString();
    const findings: Findings = { checkedAt, players: 0, entries: 0, violations: [] };
    const { violations } = findings;
    const fault = await headFault(snapshot);
    if (fault !== undefined) violations.push(violation('checkpoint_differs', fault));
    for (let after: string | undefined = ''; after !== undefined;) {
      const heads: Head[] = await headsAfter(snapshot, after, playersAtOnce);
      findings.players += heads.filter(({ seq }) => seq !== null).length;
      findings.entries += heads.reduce((sum, { newestSeq }) => sum + Number(newestSeq), 0);
      violations.push(
        ...heads.flatMap(violationsOfHead),
        ...(await checkRuns(snapshot, heads.flatMap(unsealedRun))),
        ...(await checkCounters(
          snapshot,
          heads.map(({ playerId }) => playerId),
          maxViolations,
        )),
      );
      // When the whole ledger is wrong, no more violations than this are held in memory.
      violations.splice(maxViolations);
      after = heads.at(-1)?.playerId;
    }
    return findings;
  });
