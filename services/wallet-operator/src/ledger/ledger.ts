import { createBatcher, type BatcherOptions } from '@platform/service-kit/batcher';
import { openDatabase } from '@platform/service-kit/db';
import { commitDecided, commitOrdinary } from './batches.ts';
import type { Command, Policy } from './command.ts';
import { idSpaceOf } from './id-space.ts';
import type { Move } from './ordinary-moves.ts';
import type { Outcome } from './outcome.ts';
import { claimTransactionIdScope } from './settings.ts';

export interface Ledger extends AsyncDisposable {
  /** Resolves after the commit. Rejects when the outcome is unknown, and with `Unavailable` when too many wait. */
  add(command: Command): Promise<Outcome>;
  /** Commands that wait for a batch. */
  waiting(): number;
  /** Stores the scope of transaction ids, once. Throws ScopeMismatch; the first batch does the same. */
  claimScope(): Promise<void>;
}

export interface LedgerOptions {
  databaseUrl: string;
  policy: Policy;
  maxQueue: number;
  maxInFlight: number;
  /** Commands per batch; more than the default of 200 gains nothing and delays the first command. */
  maxBatch?: number;
  now(): Date;
  onBatch?(size: number): void;
}

/**
 * Every look-up is by a whole key. These settings keep plans that were made on empty tables, or without statistics,
 * from reading whole tables later.
 */
export const settings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  jit: 'off',
};

/**
 * SQLSTATE classes with which PostgreSQL reports, before the commit, that it rolled the batch back: bad data (22),
 * constraints (23), deadlock and serialisation (40), `RAISE` (P0). After a time-out or a lost connection the outcome
 * is unknown.
 */
const rolledBack = /^(22|23|40|P0)...$/;

const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && rolledBack.test(error.code);

/** The transactions and rounds of a command. Commands that share one never run at the same time. */
export const keysOf = (command: Command, scope: Policy['transactionIds']): string[] => {
  const keys: string[] = [];
  const space = idSpaceOf(command, scope);
  // No id holds a control character, so the parts of a key can not run into each other.
  if ('transactionId' in command) keys.push(`t${space}\n${command.transactionId}`);
  if ('reverses' in command && command.reverses !== command.transactionId)
    keys.push(`t${space}\n${command.reverses}`);
  if ('roundId' in command) keys.push(`r${command.playerId}\n${command.roundId}`);
  return keys;
};

/** Whether one statement may be able to write the command, without a decision. */
export const isMove = (command: Command, { sessions }: Policy): command is Move =>
  command.operation === 'credit' ||
  (command.operation === 'debit' && (sessions === 'optional' || command.session !== undefined));

/** All money of this service moves through here, over connections of its own. */
export const openLedger = ({
  databaseUrl,
  policy,
  now,
  onBatch,
  maxBatch = 200,
  ...limits
}: LedgerOptions): Ledger => {
  const database = openDatabase({
    url: databaseUrl,
    name: 'wallet-operator:ledger',
    max: 2 * limits.maxInFlight,
    settings,
  });
  const { sql } = database;
  let claimed = false;
  const claimScope = async (): Promise<void> => {
    if (claimed) return;
    await claimTransactionIdScope(sql, policy.transactionIds);
    claimed = true;
  };
  const batches = <Item extends Command, Result>(
    commit: (items: readonly Item[]) => Promise<Result[]>,
  ): BatcherOptions<Item, Result> => ({
    ...limits,
    maxBatch,
    keysOf: (command) => keysOf(command, policy.transactionIds),
    isRolledBack,
    ...(onBatch && { onBatch }),
    flush: (items) => (claimed ? commit(items) : claimScope().then(() => commit(items))),
  });
  const ordinary = createBatcher(
    batches<Move, Outcome | undefined>((moves) => commitOrdinary(sql, moves, now(), policy)),
  );
  const decided = createBatcher(
    batches<Command, Outcome>((commands) => commitDecided(sql, commands, now(), policy)),
  );
  return {
    add: (command) =>
      isMove(command, policy)
        ? ordinary.add(command).then((outcome) => outcome ?? decided.add(command))
        : decided.add(command),
    waiting: () => ordinary.waiting() + decided.waiting(),
    claimScope,
    [Symbol.asyncDispose]: async () => {
      await ordinary[Symbol.asyncDispose]();
      await decided[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
};
