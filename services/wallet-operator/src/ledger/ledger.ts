import { createBatcher, type Batcher } from '@platform/service-kit/batcher';
import type { Database } from '@platform/service-kit/db';
import type { Command, Policy } from './command.ts';
import { commitBatch, keysOf, type Outcome } from './store.ts';

export type Ledger = Batcher<Command, Outcome>;

export interface LedgerOptions {
  database: Database;
  policy: Policy;
  maxQueue: number;
  maxInFlight: number;
  now(): Date;
  onBatch?(size: number): void;
}

/** In commands; more gain nothing and make the first of them wait. */
const maxBatch = 200;

/**
 * Bad data (22), constraints (23), deadlock and serialisation (40), our own refusal (P0): PostgreSQL said
 * so itself, before the commit. After a timeout or a lost connection nothing is certain.
 */
const rolledBack = /^(22|23|40|P0)...$/;

const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && rolledBack.test(error.code);

/** The one way in which money moves in this service. */
export const openLedger = ({ database, policy, now, ...limits }: LedgerOptions): Ledger =>
  createBatcher({
    ...limits,
    maxBatch,
    keysOf,
    isRolledBack,
    flush: (commands) => commitBatch(database.sql, commands, now(), policy),
  });
