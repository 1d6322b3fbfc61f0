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

/** Maximum numbers of players and of entries that one statement reads. */
const playersPerStatement = 1000;
const entriesPerStatement = 20_000;

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

/** The unsealed entries of a player: one run, or none. */
const unsealedRun = ({ playerId, sealedSeq, newestSeq }: Head): Run[] => {
  const firstSeq = BigInt(sealedSeq) + 1n;
  return firstSeq > BigInt(newestSeq) ? [] : [{ playerId, firstSeq: String(firstSeq), lastSeq: newestSeq }];
};

/** The runs after `taken`, the result of `takeRuns`, whose last run may be only a part. */
const remaining = (runs: readonly Run[], taken: readonly Run[]): Run[] => {
  const [lastTaken, ...others] = runs.slice(taken.length - 1);
  const lastSeq = taken.at(-1)?.lastSeq ?? '0';
  if (lastTaken === undefined || lastTaken.lastSeq === lastSeq) return others;
  return [{ ...lastTaken, firstSeq: String(BigInt(lastSeq) + 1n) }, ...others];
};

/** Checks any number of entries. After a missing entry, reads no further entries of its player. */
export const checkRuns = async (sql: ISql, runs: readonly Run[]): Promise<Violation[]> => {
  const violations: Violation[] = [];
  for (let unchecked = [...runs]; unchecked.length > 0;) {
    const taken = takeRuns(unchecked, entriesPerStatement);
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
 * Checks in one snapshot the newest checkpoint, all balances against the newest entries, all unsealed entries, and the
 * counters of limits. Only reads, so callbacks go on meanwhile. Each statement reads a limited number of players and entries.
 * The walk checks the sealed entries.
 */
export const checkUnsealed = (sql: Sql): Promise<Findings> =>
  sql.begin('isolation level repeatable read read only', async (snapshot) => {
    await useIndexes(snapshot);
    const checkedAt = (await databaseNow(snapshot)).toISOString();
    const findings: Findings = { checkedAt, players: 0, entries: 0, violations: [] };
    const { violations } = findings;
    const checkpointFault = await headFault(snapshot);
    if (checkpointFault !== undefined) violations.push(violation('checkpoint_differs', checkpointFault));
    for (let after: string | undefined = ''; after !== undefined;) {
      const heads: Head[] = await headsAfter(snapshot, after, playersPerStatement);
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
      // Limits the memory when the whole ledger is wrong.
      violations.splice(maxViolations);
      after = heads.at(-1)?.playerId;
    }
    return findings;
  });
