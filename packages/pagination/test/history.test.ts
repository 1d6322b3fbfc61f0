import fc from 'fast-check';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Directory } from '../src/directory/index.ts';
import { createLists, type TestLists } from './database.ts';
import { instants, pageRequest, sessions, step, type Action } from './history.ts';
import { directories, listsSql } from './lists.ts';
import { expectAllSame, expectSame, inSnapshot } from './same-as-offset.ts';

interface Session {
  sql: Sql;
  /** Inside a transaction. */
  inTransaction: boolean;
}

let lists: TestLists;
let allSessions: Session[];

beforeAll(async () => {
  lists = await createLists(listsSql);
  allSessions = Array.from({ length: sessions }, () => ({ sql: lists.connect(), inTransaction: false }));
});
afterAll(() => lists[Symbol.asyncDispose]());

/**
 * Errors that a history may cause: sessions that block each other time out, REPEATABLE READ refuses a conflicting change,
 * and some actions are not possible in the state of their session. Each of them ends the transaction.
 */
const expected = new Set(['55P03', '40001', '40P01', '25P01', '25001', '3B001', '23505']);

const toleratesExpectedError = async (session: Session, action: PromiseLike<unknown>): Promise<boolean> => {
  try {
    await action;
    return true;
  } catch (error) {
    if (!expected.has((error as { code?: string }).code ?? '')) throw error;
    await end(session);
    return false;
  }
};

const end = async (session: Session): Promise<void> => {
  if (session.inTransaction) await session.sql`rollback`;
  session.inTransaction = false;
};

const perform = async (session: Session, directory: Directory, action: Action): Promise<void> => {
  if (!(await toleratesExpectedError(session, action.run(session.sql, directory, session.inTransaction))))
    return;
  if (action.name.startsWith('begin')) session.inTransaction = true;
  if (action.name === 'commit' || action.name === 'rollback') session.inTransaction = false;
};

describe.each(directories)('the directory of $name rows', (directory) => {
  it('returns what OFFSET and count(*) return, after every step of any history of four sessions', async () => {
    const outside: Session = { sql: lists.sql, inTransaction: false };
    const history = fc.array(fc.tuple(step, pageRequest, pageRequest), { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        await lists.sql`truncate ${lists.sql(directory.name)}`;
        for (const [{ session, action }, ...requests] of steps) {
          const acting = allSessions[session] ?? outside;
          await perform(acting, directory, action);
          for (const request of requests) {
            // From another session (unless a TRUNCATE is open), and from this one, which sees its own changes.
            await toleratesExpectedError(
              outside,
              inSnapshot(lists.sql, (sql) => expectSame(sql, directory, request)),
            );
            if (acting.inTransaction)
              await toleratesExpectedError(acting, expectSame(acting.sql, directory, request));
          }
        }
        for (const session of allSessions) await end(session);
        await inSnapshot(lists.sql, (sql) => expectAllSame(sql, directory, instants[4]));
      }),
      { numRuns: 60 },
    );
  });
});
