import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import { checkLedger } from './queries.ts';
import type { Proof } from '../audit/schema.ts';
import type { SlowConnection } from '../../db/slow-connection.ts';

/** Checks the whole ledger now. */
export const proveLedger = async (sql: Sql, now: Date): Promise<z.input<typeof Proof>> => {
  const findings = await checkLedger(sql);
  return { ok: findings.violations.length === 0, checkedAt: now.toISOString(), ...findings };
};

export interface Proving extends AsyncDisposable {
  /** Checks the ledger once for all callers that arrive during the check, and records the result. */
  prove(): ReturnType<typeof proveLedger>;
}

interface ProvingOptions {
  slow: SlowConnection;
  /** Milliseconds between two proofs of this process; 0 for none but those that are requested. */
  everyMs: number;
  now: () => Date;
  log: Log;
  record: (ok: boolean, at: Date) => void;
}

/** Pause between two checks whether a proof is due. A proof that failed is repeated after it. */
const lookEveryMs = 3_600_000;

/** Proves the ledger regularly and on request. Disposal does not wait for a proof in progress. */
export const startProving = ({ slow, everyMs, now, log, record }: ProvingOptions): Proving => {
  let running: ReturnType<typeof proveLedger> | undefined;
  const begin = async () => {
    try {
      const proof = await slow.run((sql) => proveLedger(sql, now()));
      record(proof.ok, now());
      if (!proof.ok) log.fatal({ violations: proof.violations }, 'the proof of the ledger found violations');
      return proof;
    } finally {
      running = undefined;
    }
  };
  const prove = () => (running ??= begin());

  const pauseMs = Math.min(everyMs, lookEveryMs);
  // The first run does nothing: the replicas of a rollout start together, and a process may crash soon after its start.
  let due = performance.now() + pauseMs / 2;
  const run = async (): Promise<void> => {
    if (performance.now() < due) return;
    await prove();
    due = performance.now() + everyMs;
  };
  const background = everyMs > 0 ? startBackground({ name: 'proof', everyMs: pauseMs, log, run }) : undefined;
  return {
    prove,
    [Symbol.asyncDispose]: async () => {
      // Not awaited: it ends when `slow` is disposed.
      void background?.[Symbol.asyncDispose]();
    },
  };
};
