import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import type { SlowConnection } from '../../db/slow-connection.ts';
import { checkUnsealed } from './proof.ts';
import { maxViolations } from './queries.ts';
import { keepProof, keepWholeCheck, readChecks } from './results.ts';
import { checkSealed, walkOn } from './walk.ts';
import type { Proof } from './schema.ts';

type Answer = z.input<typeof Proof>;

/** Checks the whole ledger now, sealed or not, and stores the result in place of all earlier findings. */
export const checkWholeLedger = async (sql: Sql): Promise<Answer> => {
  const unsealed = await checkUnsealed(sql);
  const violations = [...unsealed.violations, ...(await checkSealed(sql))].slice(0, maxViolations);
  const findings = { ...unsealed, violations };
  await keepWholeCheck(sql, findings);
  return { ok: violations.length === 0, ...findings };
};

export type Proving = ReturnType<typeof startProving>;

interface ProvingOptions {
  slow: SlowConnection;
  /** For small statements. */
  sql: Sql;
  /** Milliseconds between two proofs; 0: only on request. */
  everyMs: number;
  /** Days in which all sealed entries are checked. */
  walkDays: number;
  log: Log;
}

/** Longest pause between two checks whether a proof, or a slice of the walk, is due. */
const lookEveryMs = { proof: 3_600_000, walk: 60_000 };
/** Minimum number of such checks during a walk: a walk of less than 200 minutes has shorter pauses. */
const looksPerWalk = 200;

/**
 * Proves the ledger regularly and on request, and walks over all that is sealed. Every process runs this: the time of the last
 * proof and the lock of the walk, both in the database, keep them from repeating each other's work. Disposal does not wait for a
 * check in progress.
 */
export const startProving = ({ slow, sql, everyMs, walkDays, log }: ProvingOptions) => {
  let running: Promise<Answer> | undefined;
  const begin = async (): Promise<Answer> => {
    try {
      return await slow.run(async (connection) => {
        const { violations: found, ...findings } = await checkUnsealed(connection);
        if (found.length > 0) log.fatal({ violations: found }, 'the proof of the ledger found violations');
        const known = await keepProof(connection, { ...findings, violations: found });
        const violations = known.map(({ foundAt: _foundAt, ...violation }) => violation);
        return { ok: violations.length === 0, ...findings, violations };
      });
    } finally {
      running = undefined;
    }
  };
  /**
   * Checks what is not sealed, once for all callers that arrive during the check, and keeps the result. Resolves with all
   * violations that are known.
   */
  const prove = (): Promise<Answer> => (running ??= begin());

  const proofPauseMs = Math.min(everyMs, lookEveryMs.proof);
  const walkPauseMs = Math.min((walkDays * 86_400_000) / looksPerWalk, lookEveryMs.walk);
  const proof = async (): Promise<void> => {
    const { proofAge } = await readChecks(sql);
    if (proofAge === null || proofAge * 1000 >= everyMs) await prove();
  };
  const walk = async (): Promise<boolean> => {
    const { violations, isMore } = await slow.run((connection) => walkOn(connection, walkDays));
    if (violations.length > 0) log.fatal({ violations }, 'the walk over the sealed entries found violations');
    return isMore;
  };
  // A pause first: the replicas of a rollout start together, and a process may crash soon after its start.
  const tasks = [
    startBackground({ name: 'walk', everyMs: walkPauseMs, pauseFirst: true, log, run: walk }),
    ...(everyMs > 0
      ? [startBackground({ name: 'proof', everyMs: proofPauseMs, pauseFirst: true, log, run: proof })]
      : []),
  ];
  return {
    prove,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // Not awaited: they end when `slow` is disposed.
      for (const task of tasks) void task[Symbol.asyncDispose]();
    },
  };
};
