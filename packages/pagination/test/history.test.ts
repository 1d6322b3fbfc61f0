import fc from 'fast-check';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Directory } from '../src/directory/index.ts';
import { createLists, type TestLists } from './database.ts';
import { instants, question, sessions, step, type Act } from './history.ts';
import { directories, listsSql } from './lists.ts';
import { expectAllSame, expectSame, inSnapshot } from './same-as-offset.ts';

interface Session {
  sql: Sql;
  /** Inside a transaction. */
  within: boolean;
}

let lists: TestLists;
let all: Session[];

beforeAll(async () => {
  lists = await createLists(listsSql);
  all = Array.from({ length: sessions }, () => ({ sql: lists.connect(), within: false }));
});
afterAll(() => lists[Symbol.asyncDispose]());

/**
 * Errors that a history may cause: sessions that block each other time out, REPEATABLE READ refuses a conflicting change,
 * and some acts are not possible at their place. Each of them ends the transaction.
 */
const expected = new Set(['55P03', '40001', '40P01', '25P01', '25001', '3B001', '23505']);

const settle = async (session: Session, doing: PromiseLike<unknown>): Promise<boolean> => {
  try {
    await doing;
    return true;
  } catch (error) {
    if (!expected.has((error as { code?: string }).code ?? '')) throw error;
    await end(session);
    return false;
  }
};

const end = async (session: Session): Promise<void> => {
  if (session.within) await session.sql`rollback`;
  session.within = false;
};

const take = async (session: Session, directory: Directory, act: Act): Promise<void> => {
  if (!(await settle(session, act.run(session.sql, directory, session.within)))) return;
  if (act.name.startsWith('begin')) session.within = true;
  if (act.name === 'commit' || act.name === 'rollback') session.within = false;
};

describe.each(directories)('the directory of $name rows', (directory) => {
  it('gives what OFFSET and count(*) give, after every step of any history of four sessions', async () => {
    const outside: Session = { sql: lists.sql, within: false };
    const history = fc.array(fc.tuple(step, question, question), { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        await lists.sql`truncate ${lists.sql(directory.name)}`;
        for (const [{ session, act }, ...questions] of steps) {
          const acting = all[session] ?? outside;
          await take(acting, directory, act);
          for (const asked of questions) {
            // From outside, unless a TRUNCATE is open, and from inside, where own changes are seen.
            await settle(
              outside,
              inSnapshot(lists.sql, (sql) => expectSame(sql, directory, asked)),
            );
            if (acting.within) await settle(acting, expectSame(acting.sql, directory, asked));
          }
        }
        for (const session of all) await end(session);
        await inSnapshot(lists.sql, (sql) => expectAllSame(sql, directory, instants[4]));
      }),
      { numRuns: 60 },
    );
  });
});
