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

/** The ledger in this database was started with another TRANSACTION_ID_SCOPE. */
export class ScopeMismatch extends SettingsError {
  override name = 'ScopeMismatch';
}

/**
 * Stores the scope of transaction ids if none is stored. Throws ScopeMismatch if the stored one differs: with another scope
 * a retry would not find its first attempt, and would move the money again.
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
  /** Number of commands that wait for a batch, or for a player that another transaction has locked. */
  waiting(): number;
  /** Number of players whose rows another transaction has locked. */
  lockedPlayers(): number;
  /** Stores the scope of transaction ids, once. Throws ScopeMismatch; the first batch does the same. */
  claimScope(): Promise<void>;
}

export interface LedgerOptions {
  databaseUrl: string;
  policy: Policy;
  maxQueue: number;
  maxInFlight: number;
  /** How long a command waits for a batch, and for a player or table that another transaction has locked. */
  maxWaitMs: number;
  /** Maximum number of commands in a batch; more than the default of 200 gains nothing and delays the first command. */
  maxBatch?: number;
  /** How long a batch waits for a lock before it leaves out locked players; default 100. */
  lockTimeoutMs?: number;
  /** Replaces the clock of the database in tests. */
  now?(): Date;
  /** Called for each command that a committed batch decided. */
  onCommitted?(playerId: string): void;
  onBatch?(size: number): void;
}

/** Force look-ups by key, because plans that are made on empty tables, or without statistics, would later read whole tables. */
export const plannerSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  jit: 'off',
};

/** A batch takes milliseconds. If nothing comes back, its connection is destroyed a second after this time. */
const statementTimeoutMs = 2000;

/** SQLSTATE of an error of PostgreSQL; empty for any other error. */
const sqlStateOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/**
 * Whether PostgreSQL has rolled the batch back: bad data (22), constraints (23), deadlock and serialisation (40), `RAISE`
 * (P0). After a timeout or a lost connection the outcome is unknown.
 */
const isRolledBack = (error: unknown): boolean => /^(22|23|40|P0)...$/.test(sqlStateOf(error));

/** Whether another transaction has written one of the ids, or won a deadlock. The next attempt sees what it has written. */
const isConflict = (error: unknown): boolean => /^(23505|40...)$/.test(sqlStateOf(error));

/** Maximum number of retries of a command after conflicts. */
const maxConflicts = 3;

/** Opens the ledger, which has its own connections. All money of this service moves through it. */
export const openLedger = ({
  databaseUrl,
  policy,
  now,
  onBatch,
  onCommitted,
  maxBatch = 200,
  lockTimeoutMs = 100,
  ...queueOptions
}: LedgerOptions): Ledger => {
  const database = openDatabase({
    url: databaseUrl,
    name: 'wallet-operator:ledger',
    // One for each batch of the two batchers, and one to look for locked players.
    max: 2 * queueOptions.maxInFlight + 1,
    statementTimeoutMs,
    settings: { ...plannerSettings, lock_timeout: String(lockTimeoutMs) },
  });
  const { sql } = database;
  const locked = createLockedPlayers(sql, queueOptions.maxQueue);
  let claimed = false;
  const claimScope = async (): Promise<void> => {
    if (claimed) return;
    await claimTransactionIdScope(sql, policy.transactionIds);
    claimed = true;
  };
  const isBlocked = (command: Command): boolean => locksPlayer(command) && locked.has(command.playerId);

  /** Commits the commands whose players no other transaction has locked; the others are `leftOver`. */
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
    const deadline = performance.now() + queueOptions.maxWaitMs;
    for (;;) {
      const ready = items.filter((item) => !isBlocked(item));
      try {
        const outcomes = ready.length === 0 ? [] : await commit(sql, ready, now?.(), policy);
        if (onCommitted) for (const { playerId } of ready) onCommitted(playerId);
        if (ready.length === items.length) return outcomes;
        const outcomeOf = new Map(ready.map((item, index) => [item, outcomes[index]]));
        return items.map((item) => outcomeOf.get(item) ?? leftOver);
      } catch (error) {
        // After a lock timeout PostgreSQL has rolled the batch back, so it can run again without the locked players.
        if (performance.now() >= deadline || !isLockTimeout(error)) throw error;
        await locked.check(ready.map(({ playerId }) => playerId)).catch((checkError: unknown) => {
          // The whole table is locked; the batch runs again until the deadline.
          if (!isLockTimeout(checkError)) throw checkError;
        });
      }
    }
  };
  const batches = {
    ...queueOptions,
    maxBatch,
    keysOf: (command: Command) => keysOf(command, policy.transactionIds),
    ...(onBatch && { onBatch }),
  };
  const moves = createBatcher<Move, BatchOutcome>({
    ...batches,
    flush: (batch) =>
      commitUnlocked(commitMoves, batch).catch((error: unknown) => {
        if (!isRolledBack(error)) throw error;
        // For example, another process has just written one of the transactions. domain.ts then decides all of them.
        return batch.map(() => leftOver);
      }),
  });
  const commands = createBatcher<Command, BatchOutcome>({
    ...batches,
    isRolledBack,
    flush: (batch) => commitUnlocked(commitCommands, batch),
  });
  /** Waits until the player is not locked, and then for the decision. */
  const addCommand = async (command: Command): Promise<Outcome> => {
    const deadline = performance.now() + queueOptions.maxWaitMs;
    for (let conflicts = 0; ;) {
      if (isBlocked(command)) await waitUncounted(() => locked.untilReleased(command.playerId, deadline));
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
      isMove(command, policy) && !isBlocked(command)
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
