import { inTransaction } from '@platform/service-kit/record';
import type { Sql, TransactionSql } from 'postgres';
import { pendingChanges, unfiltered, type Directory, type Filter } from './directory.ts';
import { driftStatement, foldStatement, recountStatement, splitStatement } from './statements.ts';

const filtersOf = ({ filters }: Directory): readonly Filter[] => [unfiltered, ...filters];

/**
 * Locks the list first, as TRUNCATE does. Sequential scans are off because tables that are written all the time have more
 * dead rows than live ones, and only an index scan skips them.
 */
const lockList = async (transaction: TransactionSql, { table }: Directory): Promise<void> => {
  await transaction.unsafe(
    `set local work_mem = '64MB'; set local enable_seqscan = off; lock table ${table} in access share mode`,
  );
};

/** Lets only this session change buckets until its transaction ends. Returns false if another session holds the lock. */
const lockBuckets = async (transaction: TransactionSql, { state }: Directory): Promise<boolean> =>
  (await transaction.unsafe(`select from ${state} for update skip locked`)).count > 0;

/**
 * Stores the last key of all counted rows: the rows of the list, and those that a pending change has removed. Because this
 * writes the state, a session with an older snapshot that tries to change buckets fails with 40001.
 */
const storeLastKey = async (transaction: TransactionSql, directory: Directory): Promise<void> => {
  const { table, state, key } = directory;
  const k = key.join(', ');
  const down = key.map((name) => `${name} desc`).join(', ');
  await transaction.unsafe(`
    update ${state} set (${k}) = (
      select ${k} from ((select ${k} from ${table} order by ${down} limit 1)
        union all ${pendingChanges(directory, k)}) counted order by ${down} limit 1)`);
};

/**
 * Adds pending changes to the counts of the buckets and returns their number. Returns undefined, and folds nothing, while
 * another session changes the buckets. Like all functions that change buckets, it joins the transaction of its caller.
 */
export const fold = (sql: Sql | TransactionSql, directory: Directory): Promise<number | undefined> =>
  inTransaction(sql, async (transaction) => {
    await lockList(transaction, directory);
    // Usually there is nothing to do, and that must not use up a transaction id.
    const [row] = await transaction.unsafe<{ pending: boolean }[]>(
      `select exists (${pendingChanges(directory, '')}) as pending`,
    );
    if (row?.pending !== true) return 0;
    if (!(await lockBuckets(transaction, directory))) return undefined;
    const [result] = await transaction.unsafe<[{ folded: number; overfull: string[] }]>(
      foldStatement(directory),
      [],
      { prepare: true },
    );
    for (const filter of filtersOf(directory)) {
      if (result.overfull.includes(filter.name)) await transaction.unsafe(splitStatement(directory, filter));
    }
    return result.folded;
  });

/** Deletes the buckets of a filter, or of one value, and counts the rows again. */
const recountBuckets = async (
  transaction: TransactionSql,
  directory: Directory,
  filter: Filter,
  value: string | null,
): Promise<void> => {
  await transaction.unsafe(
    `delete from ${directory.buckets} where filter = $1 and ($2::text is null or value = $2)`,
    [filter.name, value],
  );
  await transaction.unsafe(recountStatement(directory, filter), [value]);
};

/** Removes empty buckets, and merges those that deletions and moves have left small. */
export const mergeBuckets = (sql: Sql | TransactionSql, directory: Directory): Promise<void> =>
  inTransaction(sql, async (transaction) => {
    await lockList(transaction, directory);
    if (!(await lockBuckets(transaction, directory))) return;
    await storeLastKey(transaction, directory);
    const { buckets, bucket } = directory;
    // A bucket without rows may be deleted at any time, because no count depends on its key.
    await transaction.unsafe(`delete from ${buckets} where n = 0`);
    const sparse = await transaction.unsafe<{ filter: string; value: string }[]>(
      `select filter, value from ${buckets} group by filter, value
     having count(*) > 2 + 2 * sum(greatest(n, 0)) / ${bucket}`,
    );
    for (const filter of filtersOf(directory)) {
      for (const { value } of sparse.filter((bucket) => bucket.filter === filter.name))
        await recountBuckets(transaction, directory, filter, value);
    }
  });

/** Counts the whole list again while others read and write; waits for a session that changes the buckets. */
export const rebuild = (sql: Sql | TransactionSql, directory: Directory): Promise<void> =>
  inTransaction(sql, async (transaction) => {
    await transaction.unsafe(
      `set local work_mem = '64MB'; lock table ${directory.table} in access share mode`,
    );
    // Waits first, so that the snapshot of the next statement contains the counts of other sessions.
    await transaction.unsafe(`select from ${directory.state} for update`);
    await storeLastKey(transaction, directory);
    for (const filter of filtersOf(directory)) await recountBuckets(transaction, directory, filter, null);
  });

/** By how many rows the directory differs from the list; `rebuild` corrects it. */
export const measureDrift = async (sql: Pick<Sql, 'unsafe'>, directory: Directory): Promise<number> => {
  let drift = 0;
  for (const filter of filtersOf(directory)) {
    const [row] = await sql.unsafe<{ drift: string }[]>(driftStatement(directory, filter));
    drift += Number(row?.drift);
  }
  return drift;
};

/** The number of changes that are not folded yet; every page adds them up. */
export const countPendingChanges = async (sql: Sql, directory: Directory): Promise<number> => {
  const [row] = await sql.unsafe<{ n: number }[]>(
    `select count(*)::int as n from (${pendingChanges(directory, '')}) changes`,
  );
  return row?.n ?? 0;
};
