import type { Metrics } from '@platform/service-kit/metrics';
import { Counter, Histogram } from 'prom-client';

export interface WalletMetrics {
  /** Decided callbacks. */
  outcomes: Counter<'operation' | 'status'>;
  /** Callbacks committed together. */
  batchSize: Histogram;
}

export const createWalletMetrics = ({ registry }: Metrics): WalletMetrics => ({
  outcomes: new Counter({
    name: 'wallet_callbacks_total',
    help: 'Callbacks by operation and status; every status but OK is a refusal',
    labelNames: ['operation', 'status'],
    registers: [registry],
  }),
  batchSize: new Histogram({
    name: 'wallet_batch_size',
    help: 'Callbacks committed together',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 200],
    registers: [registry],
  }),
});
