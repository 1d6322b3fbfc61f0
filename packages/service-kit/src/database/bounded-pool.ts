import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, TransactionSql } from 'postgres';
import type { ConnectionQueue } from '../overload/connection-queue.ts';
import { isTransactionConflict, transientFault } from './database-error.ts';
import { currentRequest, type RequestScope } from '../overload/request-scope.ts';
import { SafeError } from '../process/safe-error.ts';

/** A statement of postgres.js. When it is awaited, the driver calls `handler` to send it. */
interface Statement extends Promise<unknown> {
  /** Whether it was sent and is the first on its connection. */
  active: boolean;
  handler(statement: Statement): void;
  canceller(statement: Statement): Promise<void>;
  reject(error: unknown): void;
  /** The request with which it is cancelled. */
  scope?: RequestScope;
  /** The `reject` function that ours replaced: the driver's, or a tracer's, which ends the span. */
  originalReject?(error: unknown): void;
}

/** Nearly all statements end within this time anyway; for the others a cancel request is worth its cost. */
const cancelAfterMs = 100;

type Send = (statement: Statement, handler: Statement['handler']) => void;
type Work = (sql: TransactionSql) => unknown;

/**
 * Calls `send` for every statement of `sql`; `send` must call the handler. Fragments are never sent.
 *
 * All statements share the same functions, because V8 would keep a statement with its own closure, and all its parameters,
 * until the next collection of the old generation.
 */
const interceptStatements = <S extends Sql | TransactionSql>(sql: S, send: Send): S => {
  let originalHandler: Statement['handler'] | undefined;
  let sharedHandler: Statement['handler'] | undefined;
  const intercept = (result: unknown): unknown => {
    if (!(result instanceof Promise)) return result;
    const statement = result as Statement;
    const { handler } = statement;
    if (handler !== originalHandler || sharedHandler === undefined) {
      originalHandler = handler;
      sharedHandler = (sent) => send(sent, handler);
    }
    statement.handler = sharedHandler;
    return statement;
  };
  const { unsafe } = sql;
  const tagged = (...args: unknown[]) => intercept((sql as (...args: unknown[]) => unknown)(...args));
  return Object.assign(tagged, sql, {
    unsafe: (...args: Parameters<typeof unsafe>) => intercept(unsafe(...args)),
  });
};

/**
 * Rejects a cancelled statement with the reason of the cancellation, which says more than "canceling statement due to user
 * request". Keeps the error of a lost connection, which says that a commit may have happened.
 */
function rejectWithReason(this: Statement, error: unknown): void {
  this.originalReject?.(transientFault(error) === 'lost' ? error : (this.scope?.cancelled ?? error));
}

/** Sends a statement and cancels it if its request is cancelled. */
const sendCancellable = (statement: Statement, handler: Statement['handler'], scope: RequestScope): void => {
  if (scope.cancelled) {
    statement.reject(scope.cancelled);
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // The driver cannot cancel a statement that still waits for a connection.
    if (!statement.active) return;
    clearInterval(timer);
    // If the cancel request fails, the statement timeout ends the statement.
    statement.canceller(statement).catch(() => undefined);
  };
  const onCancel = (): void => {
    timer = setInterval(cancel, cancelAfterMs);
  };
  const end = (): void => {
    scope.onCancel.delete(onCancel);
    clearInterval(timer);
  };
  statement.scope = scope;
  statement.originalReject = statement.reject;
  statement.reject = rejectWithReason;
  scope.onCancel.add(onCancel);
  statement.then(end, end);
  handler(statement);
};

/** Cancels the statements of a transaction with their request. The driver sends commit and rollback, which are not cancelled. */
const cancellable = (tx: TransactionSql, scope: RequestScope): TransactionSql => {
  const savepoint = (...args: unknown[]) => {
    const body = args.pop() as Work;
    return (tx.savepoint as (...args: unknown[]) => unknown)(...args, (nested: TransactionSql) =>
      body(cancellable(nested, scope)),
    );
  };
  const send: Send = (statement, handler) => sendCancellable(statement, handler, scope);
  return Object.assign(interceptStatements(tx, send), { savepoint });
};

/** Maximum attempts of a transaction that conflicts with others, and the base of the pause between them. */
const maxAttempts = 3;
const pauseMs = 20;

/** Runs `transaction`, and again if PostgreSQL rolled it back because of a concurrent transaction. */
const withRetries = async <T>(transaction: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === maxAttempts || !isTransactionConflict(error)) throw error;
      // The pause is random, so that transactions that conflicted do not conflict again.
      await sleep(pauseMs * attempt * (0.5 + Math.random()));
    }
  }
};

/** The transaction in which the calling code runs; it holds a connection until it has ended. */
const currentTransaction = new AsyncLocalStorage<{ hasEnded: boolean }>();

const refuseInTransaction = (): void => {
  if (currentTransaction.getStore()?.hasEnded !== false) return;
  throw new SafeError(
    'A statement on the pool was sent inside a transaction, which can deadlock the pool: run the statement on the transaction.',
  );
};

interface PoolOptions {
  /**
   * Refuses statements and transactions on the pool inside a transaction, with a SafeError. If all connections are held by
   * transactions that wait for such statements, none of them ever ends.
   */
  refuseInTransactions: boolean;
}

/**
 * Puts a bounded queue in front of a pool. A statement or a transaction takes one slot, so the driver never sends one behind
 * another that may take long. Both are cancelled with their request.
 *
 * After a serialisation failure or deadlock a transaction is run again, three times in all. So its body must have no effects
 * outside of the database that must not be repeated.
 */
export const boundPool = (
  pool: Sql,
  { enter, leave }: ConnectionQueue,
  { refuseInTransactions }: PoolOptions,
): Sql => {
  const refuseNested = refuseInTransactions ? refuseInTransaction : () => undefined;
  const send: Send = (statement, handler) => {
    const scope = currentRequest();
    const end = (): void => leave(scope);
    const start = (): void => {
      statement.then(end, end);
      if (scope) sendCancellable(statement, handler, scope);
      else handler(statement);
    };
    try {
      refuseNested();
      enter(scope, start, (error) => statement.reject(error));
    } catch (error) {
      statement.reject(error);
    }
  };
  const beginOnce = async (options: readonly unknown[], work: Work): Promise<unknown> => {
    const scope = currentRequest();
    await new Promise<void>((resolve, reject) => enter(scope, resolve, reject));
    const transaction = { hasEnded: false };
    const body = (tx: TransactionSql) =>
      currentTransaction.run(transaction, () => work(scope ? cancellable(tx, scope) : tx));
    try {
      return await (pool.begin as (...args: unknown[]) => Promise<unknown>)(...options, body);
    } finally {
      transaction.hasEnded = true;
      leave(scope);
    }
  };
  const begin = async (...args: unknown[]): Promise<unknown> => {
    refuseNested();
    const work = args.pop() as Work;
    return withRetries(() => beginOnce(args, work));
  };
  return Object.assign(interceptStatements(pool, send), { begin }) as Sql;
};
