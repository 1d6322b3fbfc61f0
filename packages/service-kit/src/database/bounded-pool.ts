import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, TransactionSql } from 'postgres';
import type { ConnectionQueue } from '../overload/connection-queue.ts';
import { isTransactionConflict, transientFault } from './database-error.ts';
import { currentRequest, type RequestScope } from '../overload/request-scope.ts';
import { SafeError } from '../process/safe-error.ts';

/** A statement of postgres.js, which calls `handler` to send it when it is awaited. */
interface Statement extends Promise<unknown> {
  /** Sent, and the first in its connection. */
  active: boolean;
  handler(statement: Statement): void;
  canceller(statement: Statement): Promise<void>;
  reject(error: unknown): void;
  /** The request that it is cancelled with. */
  scope?: RequestScope;
  /** The driver's `reject`, or that of a tracer, which ends the span. */
  rejectBefore?(error: unknown): void;
}

/** Nearly all statements end within this time on their own; only the others are worth the cost of a cancel request. */
const cancelAfterMs = 100;

type Send = (statement: Statement, handler: Statement['handler']) => void;
type Work = (sql: TransactionSql) => unknown;

/**
 * Gives every statement that `sql` makes to `send`, which calls its handler. Fragments are never sent.
 *
 * Functions that a statement has are shared by all of them: with a closure of its own V8 keeps a statement, and all of
 * its parameters, until the next collection of the old generation.
 */
const interceptStatements = <S extends Sql | TransactionSql>(sql: S, send: Send): S => {
  let original: Statement['handler'] | undefined;
  let sendBy: Statement['handler'] | undefined;
  const intercept = (result: unknown): unknown => {
    if (!(result instanceof Promise)) return result;
    const statement = result as Statement;
    const { handler } = statement;
    if (handler !== original || sendBy === undefined) {
      original = handler;
      sendBy = (sent) => send(sent, handler);
    }
    statement.handler = sendBy;
    return statement;
  };
  const { unsafe } = sql;
  const tagged = (...args: unknown[]) => intercept((sql as (...all: unknown[]) => unknown)(...args));
  return Object.assign(tagged, sql, {
    unsafe: (...args: Parameters<typeof unsafe>) => intercept(unsafe(...args)),
  });
};

/**
 * The reason why a statement was cancelled says more than "canceling statement due to user request". It does not say that
 * a commit may have happened, though.
 */
function rejectWithReason(this: Statement, error: unknown): void {
  this.rejectBefore?.(transientFault(error) === 'lost' ? error : (this.scope?.cancelled ?? error));
}

/** Sends a statement that is cancelled with its request. */
const sendCancellable = (statement: Statement, handler: Statement['handler'], scope: RequestScope): void => {
  if (scope.cancelled) {
    statement.reject(scope.cancelled);
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // The driver can only cancel what it waits for: not a statement that waits for a connection.
    if (!statement.active) return;
    clearInterval(timer);
    // If the cancel request fails, the statement ends by its statement timeout.
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
  statement.rejectBefore = statement.reject;
  statement.reject = rejectWithReason;
  scope.onCancel.add(onCancel);
  statement.then(end, end);
  handler(statement);
};

/** The statements of a transaction are cancelled with their request; commit and rollback are the driver's and are not. */
const cancellable = (tx: TransactionSql, scope: RequestScope): TransactionSql => {
  const savepoint = (...args: unknown[]) => {
    const body = args.pop() as Work;
    return (tx.savepoint as (...all: unknown[]) => unknown)(...args, (saved: TransactionSql) =>
      body(cancellable(saved, scope)),
    );
  };
  const send: Send = (statement, handler) => sendCancellable(statement, handler, scope);
  return Object.assign(interceptStatements(tx, send), { savepoint });
};

/** Tries of a transaction that is rolled back for the sake of another one, and the pause before the next one. */
const maxTries = 3;
const pauseMs = 20;

/** Runs `transaction` again when PostgreSQL rolled it back because of another one: nothing of it has happened. */
const withRetries = async <T>(transaction: () => Promise<T>): Promise<T> => {
  for (let tried = 1; ; tried++) {
    try {
      return await transaction();
    } catch (error) {
      if (tried === maxTries || !isTransactionConflict(error)) throw error;
      // Those that lost to each other must not meet again.
      await sleep(pauseMs * tried * (0.5 + Math.random()));
    }
  }
};

/** The transaction that the calling code is part of, whose connection it holds until it has ended. */
const enclosing = new AsyncLocalStorage<{ hasEnded: boolean }>();

const refuseInTransaction = (): void => {
  if (enclosing.getStore()?.hasEnded !== false) return;
  throw new SafeError(
    'A transaction waits for a statement on the pool, which may wait for the connection of the transaction: run the statement on the transaction.',
  );
};

interface PoolOptions {
  /**
   * Refuses statements and transactions on the pool inside a transaction, with a SafeError. When as many transactions as
   * there are connections wait for such statements, none of them ever ends.
   */
  refuseInTransactions: boolean;
}

/**
 * Puts a bounded queue in front of a pool, which has none. A statement or a transaction takes one slot, so the driver
 * never sends one behind another that may take long. Both are cancelled with the request that they belong to.
 *
 * A transaction that is lost to another one (serialisation failure, deadlock) is run again, up to three times in all: its
 * body must not change anything outside of the database that a second run would change again.
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
    await new Promise<void>((start, refuse) => enter(scope, start, refuse));
    const transaction = { hasEnded: false };
    const body = (tx: TransactionSql) =>
      enclosing.run(transaction, () => work(scope ? cancellable(tx, scope) : tx));
    try {
      return await (pool.begin as (...all: unknown[]) => Promise<unknown>)(...options, body);
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
