import type { Sql } from 'postgres';
import type { Directory } from './declare.ts';
import { namesOf } from './sql/names.ts';

const batch = 5000;

/** Folds recorded changes into the counts until none is left; 0 at once while another session does. */
export const foldChanges = async (sql: Sql, directory: Directory): Promise<number> => {
  let total = 0;
  for (;;) {
    const [row] = await sql<{ folded: number }[]>`
      select ${sql(namesOf(directory).routine('fold'))}(${batch}) as folded`;
    const folded = row?.folded ?? 0;
    total += folded;
    if (folded < batch) return total;
  }
};

/** Joins small buckets that deletions and moves have left. */
export const thinBuckets = async (sql: Sql, directory: Directory): Promise<void> => {
  await sql`select ${sql(namesOf(directory).routine('thin'))}()`;
};

/** These read the whole list; the statement timeout of a request is too short for that. */
const unhurried = async (sql: Sql, directory: Directory, routine: string): Promise<string | undefined> => {
  const [, [row]] = await sql.begin((transaction) => [
    transaction`set local statement_timeout = '10min'`,
    transaction<{ result: string }[]>`select ${sql(namesOf(directory).routine(routine))}() as result`,
  ]);
  return row?.result;
};

/** By how many rows the directory is off, compared with the list itself: 0, or something is broken. */
export const measureDrift = async (sql: Sql, directory: Directory): Promise<number> =>
  Number(await unhurried(sql, directory, 'drift'));

/** Counts everything anew, while others read and write. */
export const rebuildDirectory = async (sql: Sql, directory: Directory): Promise<void> => {
  await unhurried(sql, directory, 'rebuild');
};

/** How many changes readers add up one by one, as they are not folded in yet. */
export const countUnfolded = async (sql: Sql, directory: Directory): Promise<number> => {
  const { changes, state } = namesOf(directory);
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from ${sql(changes)} where xid >= (select folded_to from ${sql(state)})`;
  return row?.n ?? 0;
};
