import type { Metrics } from '@platform/service-kit/metrics';
import { Counter, Gauge, Histogram } from 'prom-client';

export interface WalletMetrics {
  /** Counts a decided callback. */
  countOutcome(operation: string, status: string): void;
  /** Callbacks committed together. */
  batchSize: Histogram;
  recordProof(ok: boolean, at: Date): void;
}

/** Values that are read at each scrape. */
export interface WalletGauges {
  stuckRounds(): Promise<number>;
  waiting(): number;
  lockedPlayers(): number;
  unsealedSeconds(): number;
  now(): Date;
}

export const createWalletMetrics = ({ registry }: Metrics, gauges: WalletGauges): WalletMetrics => {
  const registers = [registry];
  let proved: { ok: boolean; at: Date } | undefined;
  new Gauge({
    name: 'wallet_stuck_rounds',
    help: 'Rounds open for longer than STUCK_ROUND_S; NaN while the database cannot be reached',
    registers,
    async collect() {
      const count = await gauges.stuckRounds().catch(() => undefined);
      this.set(count ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'wallet_waiting',
    help: 'Callbacks that wait to be committed',
    registers,
    collect() {
      this.set(gauges.waiting());
    },
  });
  new Gauge({
    name: 'wallet_locked_players',
    help: 'Players whose callbacks wait because another transaction holds their row',
    registers,
    collect() {
      this.set(gauges.lockedPlayers());
    },
  });
  new Gauge({
    name: 'wallet_unsealed_seconds',
    help: 'How long the oldest entry of this process waits for its checkpoint; 0 when all are sealed',
    registers,
    collect() {
      this.set(gauges.unsealedSeconds());
    },
  });
  new Gauge({
    name: 'wallet_proof_age_seconds',
    help: 'Seconds since this process last proved the ledger; NaN before the first proof',
    registers,
    collect() {
      this.set(proved === undefined ? Number.NaN : (gauges.now().getTime() - proved.at.getTime()) / 1000);
    },
  });
  new Gauge({
    name: 'wallet_proof_ok',
    help: '1 when the last proof found no violation, otherwise 0; NaN before the first proof',
    registers,
    collect() {
      this.set(proved === undefined ? Number.NaN : Number(proved.ok));
    },
  });
  const outcomes = new Counter({
    name: 'wallet_callbacks_total',
    help: 'Callbacks by operation and status; every status except OK is a refusal',
    labelNames: ['operation', 'status'],
    registers,
  });
  // Looking a pair of labels up costs more than counting; there are few.
  const pairs = new Map<string, Counter.Internal>();
  return {
    countOutcome: (operation, status) => {
      const key = `${operation} ${status}`;
      let pair = pairs.get(key);
      if (pair === undefined) pairs.set(key, (pair = outcomes.labels(operation, status)));
      pair.inc();
    },
    batchSize: new Histogram({
      name: 'wallet_batch_size',
      help: 'Callbacks committed together',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 200],
      registers,
    }),
    recordProof: (ok, at) => {
      proved = { ok, at };
    },
  };
};
