import { startBackground } from '@platform/service-kit/background';
import type { Queries } from '@platform/service-kit/record';
import type { Context } from '../context.ts';
import { deleteSome } from '../delete-some.ts';

/** Maximum number of tasks that one statement changes: it rewrites the JSON of each task, up to 30 kB. */
const sliceSize = 200;

/** Unassigns up to 200 tasks of a list from these users. Returns whether more may be left. */
export const unassignSome = async (
  tx: Queries,
  listId: string,
  userIds: readonly string[],
): Promise<boolean> => {
  const { count } = await tx`
    update tasks set assignee_id = null, version = version + 1, updated_at = statement_timestamp()
    where owner_id = ${listId} and id = any (array(
      select id from tasks where owner_id = ${listId} and assignee_id = any(${userIds}::uuid[])
      order by created_at limit ${sliceSize} for update))`;
  return count === sliceSize;
};

/** Queues background work for a list: unassigns the tasks of these former members, or, for null, deletes all tasks. */
export const queueLeftovers = async (
  tx: Queries,
  listId: string,
  userIds: readonly (string | null)[],
): Promise<void> => {
  await tx`insert into list_leftovers (list_id, assignee_id) select ${listId}, unnest(${userIds}::uuid[])`;
};

interface Leftover {
  id: string;
  listId: string;
  /** Null: the list is deleted. */
  assigneeId: string | null;
  /** Whether the assignee has joined again. */
  isMember: boolean;
}

/**
 * Completes removals of members and deletions of lists in small transactions. Meanwhile nobody sees the tasks of a deleted list,
 * and a former member sees no task of the list.
 */
export const startLeftovers = ({ database: { sql }, log }: Context): AsyncDisposable =>
  startBackground({
    name: 'list leftovers',
    everyMs: 1000,
    idleMs: 10_000,
    log,
    run: () =>
      sql.begin(async (tx) => {
        // In random order, so that one that fails does not block the others.
        const [leftover] = await tx<Leftover[]>`
          select id, list_id as "listId", assignee_id as "assigneeId", exists (
            select from list_members where list_id = list_leftovers.list_id and user_id = assignee_id) as "isMember"
          from list_leftovers order by random() limit 1 for update of list_leftovers skip locked`;
        if (leftover === undefined) return false;
        const { id, listId, assigneeId, isMember } = leftover;
        const hasMore =
          assigneeId === null
            ? await deleteSome(tx, 'tasks', 'owner_id', listId)
            : !isMember && (await unassignSome(tx, listId, [assigneeId]));
        if (!hasMore) await tx`delete from list_leftovers where id = ${id}`;
        return true;
      }),
  });
