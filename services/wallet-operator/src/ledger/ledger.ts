import { createBatcher, type Batcher } from '@platform/service-kit/batcher';
import type { Database } from '@platform/service-kit/db';
import type { Command, Policy } from './command.ts';
import { claimTransactionIdScope } from './settings.ts';
import { commitBatch, keysOf, type Outcome } from './store.ts';

export interface Ledger extends Batcher<Command, Outcome> {
  /** Stores the scope of transaction ids, once. Throws ScopeMismatch; the first batch does the same. */
  claimScope(): Promise<void>;
}

export interface LedgerOptions {
  database: Database;
  policy: Policy;
  maxQueue: number;
  maxInFlight: number;
  now(): Date;
  onBatch?(size: number): void;
}

/** In commands; larger batches gain nothing and delay the first command. */
const maxBatch = 200;

/**
 * SQLSTATE classes with which PostgreSQL reports, before the commit, that it rolled the batch back: bad data (22),
 * constraints (23), deadlock and serialisation (40), `RAISE` (P0). After a time-out or a lost connection the outcome
 * is unknown.
 */
const rolledBack = /^(22|23|40|P0)...$/;

const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && rolledBack.test(error.code);

/** All money of this service moves through here. */
export const openLedger = ({ database, policy, now, ...limits }: LedgerOptions): Ledger => {
  let claimed = false;
  const claimScope = async (): Promise<void> => {
    if (claimed) return;
    await claimTransactionIdScope(database.sql, policy.transactionIds);
    claimed = true;
  };
  const batcher = createBatcher<Command, Outcome>({
    ...limits,
    maxBatch,
    keysOf: (command) => keysOf(command, policy.transactionIds),
    isRolledBack,
    flush: async (commands) => {
      await claimScope();
      return commitBatch(database.sql, commands, now(), policy);
    },
  });
  return { ...batcher, claimScope };
};
