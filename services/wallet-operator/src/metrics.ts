import type { Metrics } from '@platform/service-kit/metrics';
import { createReading } from '@platform/service-kit/reading';
import { Counter, Gauge, Histogram } from '@prometheus-io/client';
import type { BaseContext } from '@platform/service-kit/context';
import type { Ledger } from './ledger/ledger.ts';
import { countFailing } from './reconciliation/queries.ts';
import { readChecks } from './reporting/proof/results.ts';
import { countOpenRounds } from './reporting/rounds/queries.ts';
import { overdueSeconds } from './reporting/summary/queries.ts';
import { secondsSinceSeal } from './sealing/queries.ts';
import type { Sealing } from './sealing/sealing.ts';

type Value = number | null | undefined;

/** The sources of the values that are read at each scrape. */
interface Sources {
  database: BaseContext['database'];
  /** Rounds that are open for longer count as stuck. */
  stuckRoundS: number;
  ledger(): Ledger;
  sealing: Sealing | undefined;
}

export const createWalletMetrics = (
  { registry }: Metrics,
  { database: { sql }, stuckRoundS, ledger, sealing }: Sources,
) => {
  const registers = [registry];
  /** Creates a gauge whose value is read at each scrape; NaN while there is no value. */
  const gauge = (name: string, help: string, read: () => Value | Promise<Value>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await read()) ?? Number.NaN);
      },
    });
  const whenDown = 'the last value while the database cannot be reached';
  gauge(
    'wallet_stuck_rounds',
    `Rounds open for longer than STUCK_ROUND_S; ${whenDown}`,
    createReading(registry, 'rounds', () => countOpenRounds(sql, stuckRoundS)),
  );
  gauge(
    'wallet_summary_overdue_seconds',
    `Seconds since the end of the oldest day whose sums are not stored; 0 while that day lasts; ${whenDown}`,
    createReading(registry, 'summaries', () => overdueSeconds(sql)),
  );
  gauge(
    'wallet_failing_reconciliations',
    `Reconciliations that failed in the last 24 hours after they were received, or have not moved for an hour; ${whenDown}`,
    createReading(registry, 'reconciliations', () => countFailing(sql)),
  );
  gauge('wallet_waiting', 'Callbacks that wait to be committed', () => ledger().waiting());
  gauge(
    'wallet_locked_players',
    'Players whose callbacks wait because another transaction holds their row',
    () => ledger().lockedPlayers(),
  );
  gauge(
    'wallet_unsealed_seconds',
    'Seconds that the oldest unsealed entry of this process has waited, or that sealing has been failing; 0 when all are sealed. Without SEALING_KEY: age of the newest checkpoint, NaN if there is none',
    sealing?.waitingSeconds ?? createReading(registry, 'seals', () => secondsSinceSeal(sql)),
  );
  const checks = createReading(registry, 'proof', () => readChecks(sql));
  gauge(
    'wallet_proof_age_seconds',
    `Seconds since any process last proved the ledger; NaN before the first proof; ${whenDown}`,
    async () => (await checks())?.proofAge,
  );
  gauge(
    'wallet_seal_walk_age_seconds',
    `Seconds since all sealed entries had been compared with their seals, or since the first walk over them began; ${whenDown}`,
    async () => (await checks())?.walkAge,
  );
  gauge(
    'wallet_proof_ok',
    `0 after a check has found a fault, until a complete check passes; otherwise 1; NaN before the first proof; ${whenDown}`,
    async () => {
      const { ok = null } = (await checks()) ?? {};
      return ok === null ? undefined : Number(ok);
    },
  );
  const batchSize = new Histogram({
    name: 'wallet_batch_size',
    help: 'Callbacks committed together',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 200],
    registers,
  });
  const outcomes = new Counter({
    name: 'wallet_callbacks_total',
    help: 'Callbacks by operation and status; every status except OK is a refusal',
    labelNames: ['operation', 'status'],
    registers,
  });
  // Caches the labelled counters, because `labels()` costs more than counting; there are only few.
  const counters = new Map<string, Counter.Internal>();
  return {
    /** Counts a decided callback. */
    countOutcome: (operation: string, status: string): void => {
      const key = `${operation} ${status}`;
      let counter = counters.get(key);
      if (counter === undefined) counters.set(key, (counter = outcomes.labels(operation, status)));
      counter.inc();
    },
    /** Records the number of callbacks in a batch. */
    observeBatch: (size: number): void => batchSize.observe(size),
  };
};

export type WalletMetrics = ReturnType<typeof createWalletMetrics>;
