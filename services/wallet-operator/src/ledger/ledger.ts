import { createBatcher } from '@platform/group-commit';
import { openDatabase } from '@platform/service-kit/db';
import { SettingsError } from '@platform/service-kit/env';
import { waitUncounted } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import { isMove, keysOf, locksPlayer, type Command, type Move, type Policy } from './command.ts';
import { commitCommands, previewOutcomes, type Preview } from './commit-commands.ts';
import { createLockedPlayers } from './locked-players.ts';
import { commitMoves } from './ordinary-moves.ts';
import { leftOver, type BatchOutcome, type Outcome } from './state.ts';

/** This database was first used with the other TRANSACTION_ID_SCOPE. */
export class ScopeMismatch extends SettingsError {
  override name = 'ScopeMismatch';
}

/**
 * Stores the scope of transaction ids when no process has done so before. After a change, a retry would not find its
 * first attempt and would move the money again, so a different stored scope throws ScopeMismatch.
 */
const claimTransactionIdScope = async (sql: Sql, scope: Policy['transactionIds']): Promise<void> => {
  await sql`insert into ledger_settings (name, value) values ('transaction_id_scope', ${scope}) on conflict do nothing`;
  const [stored] = await sql<{ value: string }[]>`
    select value from ledger_settings where name = 'transaction_id_scope'`;
  if (stored?.value !== scope)
    throw new ScopeMismatch(
      `TRANSACTION_ID_SCOPE is "${scope}", but the ledger in this database was started with "${stored?.value}". ` +
        `Set TRANSACTION_ID_SCOPE=${stored?.value}, or use an empty database.`,
    );
};

export interface Ledger extends AsyncDisposable {
  /**
   * Resolves after the commit. Rejects when the outcome is unknown, and with `Unavailable` (nothing was written) when
   * too many wait or the command waited too long for a batch or for its player.
   */
  add(command: Command): Promise<Outcome>;
  /** Reads the state of the commands over a connection of the caller. Writes nothing and locks no player. */
  preview(sql: Sql, commands: readonly Command[]): Promise<Preview>;
  /** Commands that wait for a batch, or for a player whom another transaction has locked. */
  waiting(): number;
  /** Players whose rows another transaction has locked. */
  lockedPlayers(): number;
  /** Stores the scope of transaction ids, once. Throws ScopeMismatch; the first batch does the same. */
  claimScope(): Promise<void>;
}

export interface LedgerOptions {
  databaseUrl: string;
  policy: Policy;
  maxQueue: number;
  maxInFlight: number;
  /** How long a command waits for a batch, and for a player or table that another transaction has locked, in ms. */
  maxWaitMs: number;
  /** Commands per batch; more than the default of 200 gains nothing and delays the first command. */
  maxBatch?: number;
  /** How long a batch waits for a lock before it leaves out the players that hold it up; default 100. */
  lockTimeoutMs?: number;
  /** Replaces the clock of the database in tests. */
  now?(): Date;
  /** Called for each command that a committed batch decided. */
  onCommitted?(playerId: string): void;
  onBatch?(size: number): void;
}

/**
 * Every look-up is by a whole key. These settings keep plans that were made on empty tables, or without statistics,
 * from reading whole tables later.
 */
export const plannerSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  jit: 'off',
};

/** A batch takes milliseconds. Its connection is destroyed a second after this time, when nothing comes back. */
const statementTimeoutMs = 2000;

/** SQLSTATE of an error of PostgreSQL; empty for any other error. */
const sqlStateOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/**
 * Whether PostgreSQL reported before the commit that it rolled the batch back: bad data (22), constraints (23), deadlock
 * and serialisation (40), `RAISE` (P0). After a time-out or a lost connection the outcome is unknown.
 */
const isRolledBack = (error: unknown): boolean => /^(22|23|40|P0)...$/.test(sqlStateOf(error));

/** Whether another transaction wrote one of the ids meanwhile, or was preferred. The next try sees what it has written. */
const isConflict = (error: unknown): boolean => /^(23505|40...)$/.test(sqlStateOf(error));

/** How often a command that meets a conflict is tried again. */
const maxConflicts = 3;

/** All money of this service moves through here, over connections of its own. */
export const openLedger = ({
  databaseUrl,
  policy,
  now,
  onBatch,
  onCommitted,
  maxBatch = 200,
  lockTimeoutMs = 100,
  ...limits
}: LedgerOptions): Ledger => {
  const database = openDatabase({
    url: databaseUrl,
    name: 'wallet-operator:ledger',
    // One for each batch, and one to look for locked players.
    max: 2 * limits.maxInFlight + 1,
    statementTimeoutMs,
    settings: { ...plannerSettings, lock_timeout: String(lockTimeoutMs) },
  });
  const { sql } = database;
  const locked = createLockedPlayers(sql, limits.maxQueue);
  let claimed = false;
  const claimScope = async (): Promise<void> => {
    if (claimed) return;
    await claimTransactionIdScope(sql, policy.transactionIds);
    claimed = true;
  };
  const isHeldUp = (command: Command): boolean => locksPlayer(command) && locked.has(command.playerId);

  /** Commits the commands whose players are not locked by others; `leftOver` for the other commands. */
  const commitUnlocked = async <Item extends Command>(
    commit: (
      sql: Sql,
      items: readonly Item[],
      now: Date | undefined,
      policy: Policy,
    ) => Promise<BatchOutcome[]>,
    items: readonly Item[],
  ): Promise<BatchOutcome[]> => {
    if (!claimed) await claimScope();
    const deadline = performance.now() + limits.maxWaitMs;
    for (;;) {
      const ready = items.filter((item) => !isHeldUp(item));
      try {
        const outcomes = ready.length === 0 ? [] : await commit(sql, ready, now?.(), policy);
        if (onCommitted) for (const { playerId } of ready) onCommitted(playerId);
        if (ready.length === items.length) return outcomes;
        const outcomeOf = new Map(ready.map((item, at) => [item, outcomes[at]]));
        return items.map((item) => outcomeOf.get(item) ?? leftOver);
      } catch (error) {
        // PostgreSQL has rolled the batch back, so it may run again, without the players that held it up.
        if (performance.now() >= deadline || !isLockTimeout(error)) throw error;
        await locked.check(ready.map(({ playerId }) => playerId)).catch((failure: unknown) => {
          // All of `players` is locked, and the batch is tried again.
          if (!isLockTimeout(failure)) throw failure;
        });
      }
    }
  };
  const batches = {
    ...limits,
    maxBatch,
    keysOf: (command: Command) => keysOf(command, policy.transactionIds),
    ...(onBatch && { onBatch }),
  };
  const moves = createBatcher<Move, BatchOutcome>({
    ...batches,
    flush: (batch) =>
      commitUnlocked(commitMoves, batch).catch((error: unknown) => {
        if (!isRolledBack(error)) throw error;
        // For example, another process has just written one of the transactions. All of them are decided instead.
        return batch.map(() => leftOver);
      }),
  });
  const commands = createBatcher<Command, BatchOutcome>({
    ...batches,
    isRolledBack,
    flush: (batch) => commitUnlocked(commitCommands, batch),
  });
  /** Waits for the player as long as another transaction holds it, and then for the decision. */
  const addCommand = async (command: Command): Promise<Outcome> => {
    const deadline = performance.now() + limits.maxWaitMs;
    for (let conflicts = 0; ;) {
      if (isHeldUp(command)) await waitUncounted(() => locked.untilReleased(command.playerId, deadline));
      const outcome = await commands.add(command).catch((error: unknown): typeof leftOver => {
        conflicts += 1;
        if (conflicts > maxConflicts || !isConflict(error)) throw error;
        return leftOver;
      });
      if (outcome !== leftOver) return outcome;
    }
  };
  return {
    add: (command) =>
      isMove(command, policy) && !isHeldUp(command)
        ? moves.add(command).then((outcome) => (outcome === leftOver ? addCommand(command) : outcome))
        : addCommand(command),
    preview: (connection, repairs) => previewOutcomes(connection, repairs, now?.(), policy),
    waiting: () => moves.waiting() + commands.waiting() + locked.waiting(),
    lockedPlayers: locked.count,
    claimScope,
    [Symbol.asyncDispose]: async () => {
      await moves[Symbol.asyncDispose]();
      await commands[Symbol.asyncDispose]();
      await locked[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
};
