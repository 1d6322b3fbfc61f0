import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase } from '@platform/service-kit/testing';
import postgres, { type Sql, type TransactionSql } from 'postgres';
import { inject } from 'vitest';
import type {} from '@platform/local/provided';

export interface TestLists extends AsyncDisposable {
  url: string;
  sql: Sql;
  /** Opens another connection, with another role if the url has one; it is closed with the database. */
  connect: (url?: string) => Sql;
}

/**
 * Creates a database for one test file and runs `statements` in it as a migration. Its sessions stop waiting for a lock
 * after `lockTimeoutMs`, so that those of one test can block each other; 0 means no limit.
 */
export const createLists = async (statements: string, lockTimeoutMs = 30): Promise<TestLists> => {
  const folder = await mkdtemp(join(tmpdir(), 'pagination-'));
  await mkdir(join(folder, 'meta'));
  const entries = [{ idx: 0, version: '7', when: 1, tag: '0000_lists', breakpoints: true }];
  await writeFile(
    join(folder, 'meta/_journal.json'),
    JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
  );
  await writeFile(join(folder, '0000_lists.sql'), statements);
  const database = await cloneDatabase(inject('postgresUrl'), { folder });
  await rm(folder, { recursive: true });
  const connections: Sql[] = [];
  const connect = (url = database.url) => {
    const sql = postgres(url, {
      max: 1,
      onnotice: () => undefined,
      connection: { lock_timeout: lockTimeoutMs },
    });
    connections.push(sql);
    return sql;
  };
  return {
    url: database.url,
    sql: connect(),
    connect,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
      await database[Symbol.asyncDispose]();
    },
  };
};

/** Returns `sql`, which has one connection and an open transaction, as a transaction. */
export const asTransaction = ({ unsafe }: Sql): TransactionSql => ({ unsafe }) as TransactionSql;
