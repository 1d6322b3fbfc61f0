import type { Sql, TransactionSql } from 'postgres';
import type { Admission } from './admission.ts';
import { currentRequest, type RequestScope } from './request-scope.ts';

/** What postgres.js makes of a statement; `handler` sends it when somebody awaits it. */
interface Statement extends Promise<unknown> {
  /** Sent, and the first in its connection. */
  active: boolean;
  handler(statement: Statement): void;
  canceller(statement: Statement): Promise<void>;
  reject(error: unknown): void;
}

/**
 * A cancel request names a connection and not a statement, so it may hit the next one. Nearly all statements end
 * within this time on their own; only those that don't are cancelled.
 */
const cancelAfterMs = 100;

/** A use of a connection by a request: one statement, or a transaction with its statements. */
interface Use {
  scope: RequestScope;
  /** Settles when all cancel requests of this use have been received. */
  cancelling: Promise<unknown> | undefined;
}

type Send = (statement: Statement, handler: Statement['handler']) => void;
type Work = (sql: TransactionSql) => unknown;

/** Gives every statement that `sql` makes to `send`, which calls its handler. Fragments are never sent. */
const interceptStatements = <S extends Sql | TransactionSql>(sql: S, send: Send): S => {
  const intercept = (made: unknown): unknown => {
    if (!(made instanceof Promise)) return made;
    const statement = made as Statement;
    const { handler } = statement;
    statement.handler = () => send(statement, handler);
    return statement;
  };
  const { unsafe } = sql;
  const tagged = (...given: unknown[]) => intercept((sql as (...all: unknown[]) => unknown)(...given));
  return Object.assign(tagged, sql, {
    unsafe: (...given: Parameters<typeof unsafe>) => intercept(unsafe(...given)),
  });
};

/** Sends a statement that is cancelled with its request. */
const sendCancellable = (statement: Statement, handler: Statement['handler'], use: Use): void => {
  const { scope } = use;
  if (scope.cancelled) {
    statement.reject(scope.cancelled);
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // The driver can only cancel what it waits for: not a statement that waits for a connection or behind another.
    // If the cancel request fails, the statement ends by its statement timeout.
    if (statement.active && use.cancelling === undefined)
      use.cancelling = statement.canceller(statement).catch(() => undefined);
  };
  const onCancel = (): void => {
    timer = setInterval(cancel, cancelAfterMs);
  };
  const end = (): void => {
    scope.onCancel.delete(onCancel);
    clearInterval(timer);
  };
  const { reject } = statement;
  // The reason why it was cancelled says more than "canceling statement due to user request".
  statement.reject = (error) => reject(scope.cancelled ?? error);
  scope.onCancel.add(onCancel);
  statement.then(end, end);
  handler(statement);
};

/** Runs the body of a transaction. Commit and rollback are the driver's and are never cancelled. */
const runCancellable = async (sql: TransactionSql, use: Use, work: Work): Promise<unknown> => {
  const wrap = (inner: TransactionSql): TransactionSql => {
    const savepoint = (...given: unknown[]) => {
      const body = given.pop() as Work;
      return (inner.savepoint as (...all: unknown[]) => unknown)(...given, (saved: TransactionSql) =>
        body(wrap(saved)),
      );
    };
    const send: Send = (statement, handler) => sendCancellable(statement, handler, use);
    return Object.assign(interceptStatements(inner, send), { savepoint });
  };
  try {
    return await work(wrap(sql));
  } finally {
    // A cancel request that is still on its way would hit the rollback.
    await use.cancelling;
  }
};

/**
 * Puts a bounded queue in front of a pool, which has none. A statement or a transaction takes one slot, so the driver
 * never sends one behind another that may take long. Both are cancelled with the request that they belong to.
 */
export const boundPool = (pool: Sql, { enter, leave }: Admission): Sql => {
  const send: Send = (statement, handler) => {
    const scope = currentRequest();
    const use: Use | undefined = scope && { scope, cancelling: undefined };
    const end = (): void => {
      const cancelling = use?.cancelling;
      if (cancelling === undefined) leave();
      else void cancelling.then(leave);
    };
    const start = (): void => {
      statement.then(end, end);
      if (use === undefined) handler(statement);
      else sendCancellable(statement, handler, use);
    };
    enter(scope, start, statement.reject);
  };
  const begin = async (...given: unknown[]): Promise<unknown> => {
    const scope = currentRequest();
    const work = given.pop() as Work;
    await new Promise<void>((start, refuse) => enter(scope, start, refuse));
    const body = scope
      ? (sql: TransactionSql) => runCancellable(sql, { scope, cancelling: undefined }, work)
      : work;
    try {
      return await (pool.begin as (...all: unknown[]) => Promise<unknown>)(...given, body);
    } finally {
      leave();
    }
  };
  return Object.assign(interceptStatements(pool, send), { begin }) as Sql;
};
