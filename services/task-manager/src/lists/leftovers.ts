import { startBackground } from '@platform/service-kit/background';
import type { Queries } from '@platform/service-kit/record';
import type { Context } from '../context.ts';
import { deleteSlice } from '../slices.ts';

/** Tasks that one statement changes: each may have 30 kB of JSON, which is written anew. */
const slice = 200;

/** Takes up to 200 tasks of a list from these users. Returns whether more may be left. */
export const unassignSlice = async (
  tx: Queries,
  listId: string,
  userIds: readonly string[],
): Promise<boolean> => {
  const { count } = await tx`
    update tasks set assignee_id = null, version = version + 1, updated_at = statement_timestamp()
    where owner_id = ${listId} and id = any (array(
      select id from tasks where owner_id = ${listId} and assignee_id = any(${userIds}::uuid[])
      order by created_at limit ${slice} for update))`;
  return count === slice;
};

/** Leaves the other tasks of a list to the background: to take them from users who are no members any more, or to delete them (null). */
export const leaveRest = async (
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
 * Does in small transactions what a change of members, or the deletion of a list, has left to be done. Nobody sees the tasks
 * of a deleted list meanwhile, and a former member sees none of the list.
 */
export const startLeftovers = ({ database: { sql }, log }: Context): AsyncDisposable =>
  startBackground({
    name: 'list leftovers',
    everyMs: 1000,
    idleMs: 10_000,
    log,
    run: () =>
      sql.begin(async (tx) => {
        // Any of them, so that one that fails does not keep others waiting.
        const [left] = await tx<Leftover[]>`
          select id, list_id as "listId", assignee_id as "assigneeId", exists (
            select from list_members where list_id = list_leftovers.list_id and user_id = assignee_id) as "isMember"
          from list_leftovers order by random() limit 1 for update of list_leftovers skip locked`;
        if (left === undefined) return false;
        const { id, listId, assigneeId, isMember } = left;
        const isMore =
          assigneeId === null
            ? await deleteSlice(tx, 'tasks', 'owner_id', listId)
            : !isMember && (await unassignSlice(tx, listId, [assigneeId]));
        if (!isMore) await tx`delete from list_leftovers where id = ${id}`;
        return true;
      }),
  });
