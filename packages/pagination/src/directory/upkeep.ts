import type { Sql } from 'postgres';
import type { Directory } from './declare.ts';
import { namesOf } from './sql/names.ts';

/** Calls a routine of the directory. After a bulk load it may need more time than a request has. */
const call = async (
  sql: Sql,
  directory: Directory,
  routine: string,
  { most, signal }: { most?: number; signal?: AbortSignal | undefined } = {},
): Promise<number> => {
  const name = sql(namesOf(directory).routine(routine));
  return sql.begin(async (transaction) => {
    await transaction`set local statement_timeout = '10min'`;
    signal?.throwIfAborted();
    const query = transaction<{ result: string }[]>`
      select ${name}(${most === undefined ? sql`` : sql`${most}`}) as result`;
    const cancel = () => query.cancel();
    signal?.addEventListener('abort', cancel);
    const [row] = await query.finally(() => signal?.removeEventListener('abort', cancel));
    return Number(row?.result);
  });
};

const batch = 5000;

/** Folds recorded changes into the counts until none is left; 0 at once while another session does. */
export const foldChanges = async (sql: Sql, directory: Directory, signal?: AbortSignal): Promise<number> => {
  for (let total = 0; ;) {
    const folded = await call(sql, directory, 'fold', { most: batch, signal });
    total += folded;
    if (folded < batch) return total;
  }
};

/** Joins small buckets that deletions and moves have left, and splits what folding left overfull. */
export const thinBuckets = async (sql: Sql, directory: Directory, signal?: AbortSignal): Promise<void> => {
  await call(sql, directory, 'thin', { signal });
};

/** By how many rows the directory is off, compared with the list itself: 0, or something is broken. */
export const measureDrift = (sql: Sql, directory: Directory, signal?: AbortSignal): Promise<number> =>
  call(sql, directory, 'drift', { signal });

/** Counts everything anew, while others read and write. */
export const rebuildDirectory = async (sql: Sql, directory: Directory): Promise<void> => {
  await call(sql, directory, 'rebuild');
};

/** How many changes readers add up one by one, as they are not folded in yet. */
export const countUnfolded = async (sql: Sql, directory: Directory): Promise<number> => {
  const { changes, state } = namesOf(directory);
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from ${sql(changes)} where xid >= (select folded_to from ${sql(state)})`;
  return row?.n ?? 0;
};
