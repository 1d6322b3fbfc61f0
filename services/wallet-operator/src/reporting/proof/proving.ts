import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import type { SlowConnection } from '../../db/slow-connection.ts';
import { checkUnsealed } from './proof.ts';
import { maxViolations } from './queries.ts';
import { readChecks, storeProof, storeWholeCheck } from './results.ts';
import { checkSealed, walkOn } from './walk.ts';
import type { Proof } from './schema.ts';

type Answer = z.input<typeof Proof>;

/** Checks the whole ledger now, sealed or not, and replaces all stored findings by the result. */
export const checkWholeLedger = async (sql: Sql): Promise<Answer> => {
  const unsealed = await checkUnsealed(sql);
  const violations = [...unsealed.violations, ...(await checkSealed(sql))].slice(0, maxViolations);
  const findings = { ...unsealed, violations };
  await storeWholeCheck(sql, findings);
  return { ok: violations.length === 0, ...findings };
};

export type Proving = ReturnType<typeof startProving>;

interface ProvingOptions {
  slow: SlowConnection;
  /** For small statements. */
  sql: Sql;
  /** Milliseconds between two proofs; 0: only on request. */
  everyMs: number;
  /** Days in which the walk checks all sealed entries once. */
  walkDays: number;
  log: Log;
}

/** Maximum pause before it is checked again whether a proof, or a slice of the walk, is due. */
const maxPauseMs = { proof: 3_600_000, walk: 60_000 };
/** Minimum number of slices of a walk: a walk of less than 200 minutes has shorter pauses. */
const minSlicesPerWalk = 200;

/**
 * Proves the ledger regularly and on request, and walks over all sealed entries. Every process runs this; the time of the
 * last proof and the lock of the walk, both in the database, prevent double work. Disposal does not wait for a check in
 * progress.
 */
export const startProving = ({ slow, sql, everyMs, walkDays, log }: ProvingOptions) => {
  let running: Promise<Answer> | undefined;
  const begin = async (): Promise<Answer> => {
    try {
      return await slow.run(async (connection) => {
        const findings = await checkUnsealed(connection);
        if (findings.violations.length > 0)
          log.fatal({ violations: findings.violations }, 'the proof of the ledger found violations');
        const known = await storeProof(connection, findings);
        const violations = known.map(({ foundAt: _foundAt, ...violation }) => violation);
        return { ok: violations.length === 0, ...findings, violations };
      });
    } finally {
      running = undefined;
    }
  };
  /** Checks the unsealed entries, once for all callers that arrive meanwhile. Resolves with all known violations. */
  const prove = (): Promise<Answer> => (running ??= begin());

  const proofPauseMs = Math.min(everyMs, maxPauseMs.proof);
  const walkPauseMs = Math.min((walkDays * 86_400_000) / minSlicesPerWalk, maxPauseMs.walk);
  const proof = async (): Promise<void> => {
    const { proofAge } = await readChecks(sql);
    if (proofAge === null || proofAge * 1000 >= everyMs) await prove();
  };
  const walk = async (): Promise<boolean> => {
    const { violations, isMore } = await slow.run((connection) => walkOn(connection, walkDays));
    if (violations.length > 0) log.fatal({ violations }, 'the walk over the sealed entries found violations');
    return isMore;
  };
  // Pauses first, because the replicas of a rollout start together, and a process may crash soon after its start.
  const tasks = [
    startBackground({ name: 'walk', everyMs: walkPauseMs, pauseFirst: true, log, run: walk }),
    ...(everyMs > 0
      ? [startBackground({ name: 'proof', everyMs: proofPauseMs, pauseFirst: true, log, run: proof })]
      : []),
  ];
  return {
    prove,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // Not awaited: the work ends when `slow` is disposed.
      for (const task of tasks) void task[Symbol.asyncDispose]();
    },
  };
};
