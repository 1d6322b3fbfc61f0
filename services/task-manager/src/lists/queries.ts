import type { Page } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Queries } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import { listRoles } from '../db/tables.ts';
import type { Coded } from '../codes.ts';
import { deleteSlice } from '../slices.ts';
import { leaveRest, unassignSlice } from './leftovers.ts';
import { List } from './schema.ts';

export type ListRole = (typeof listRoles)[number];

/** A list, and the user who asks. */
export interface Entry {
  listId: string;
  userId: string;
}

/** SQL: an invitation that nobody can accept any more. */
const isOutdated = "user_id is null and invited_at < now() - interval '14 days'";

/** Without invitations that are over. */
export const lists = jsonTable('lists', Object.keys(List.shape), {
  members: `(
    select json_object_agg(email, json_build_object(
      'role', role,
      'status', case when user_id is null then 'invited' else 'joined' end,
      'userId', user_id,
      'name', (select users.name from users where users.id = user_id)) order by invitation)
    from list_members where list_id = id and not (${isOutdated}))`,
});

/** Deleted in the background. */
export const outdatedInvitations: Prunable = { table: 'list_members', outdated: isOutdated };

/**
 * Locks a list until the transaction ends, together with others (`share`) or alone (`update`). One who waits to be alone
 * keeps later batches waiting, too: row locks alone would let them pass for as long as they overlap.
 */
export const lockList = async (tx: Queries, listId: string, mode: 'share' | 'update'): Promise<void> => {
  if (mode === 'update') await tx`select pg_advisory_xact_lock(hashtextextended(${listId}, 0))`;
  await tx`select from lists where id = ${listId} for ${tx.unsafe(mode)}`;
};

/** Locks several lists together with others for a batch, in the order of their ids. */
export const lockLists = async (tx: Queries, listIds: readonly string[]): Promise<void> => {
  await tx`
    select pg_advisory_xact_lock_shared(hashtextextended(id, 0))
    from (select unnest(${listIds}::text[]) as id order by id) as ordered`;
  await tx`select from lists where id = any(${listIds}::uuid[]) order by id for share`;
};

/** The lists of a user, in which they have one of these roles. */
export const findListsByRole = async (
  sql: Queries,
  userId: string,
  roles: readonly ListRole[],
): Promise<string[]> => {
  const rows = await sql<{ listId: string }[]>`
    select list_id as "listId" from list_members where user_id = ${userId} and role = any(${roles})`;
  return rows.map(({ listId }) => listId);
};

/** The lists of a user. */
export const findListIds = (sql: Queries, userId: string): Promise<string[]> =>
  findListsByRole(sql, userId, listRoles);

/** Undefined for who is not a member. */
export const findRole = async (sql: Queries, { listId, userId }: Entry): Promise<ListRole | undefined> => {
  const [member] = await sql<{ role: ListRole }[]>`
    select role from list_members where list_id = ${listId} and user_id = ${userId}`;
  return member?.role;
};

/** One list of a user more than the page has, where there is one; oldest first. */
export const findLists = (sql: Queries, userId: string, { offset, limit }: Page): Promise<string[]> =>
  lists.list(
    sql,
    sql`where id in (select list_id from list_members where user_id = ${userId})
      order by id offset ${String(offset)} limit ${limit + 1}`,
  );

/** In how many lists a user is. Locks the user, so that the number holds until the transaction ends. */
export const countLists = async (tx: Queries, userId: string): Promise<number> => {
  await tx`select from users where id = ${userId} for no key update`;
  return (await tx`select from list_members where user_id = ${userId}`).length;
};

/** Adds an owner, who needs no invitation. */
export const insertOwner = async (tx: Queries, { listId, userId }: Entry): Promise<void> => {
  await tx`
    insert into list_members (list_id, email, user_id, role, invitation, invited_at)
    select ${listId}, email, id, 'owner', ${uuidv7()}, now() from users where id = ${userId}`;
};

/** Somebody who is invited, or whose role changes. */
export interface NewMember {
  email: string;
  role: ListRole;
}

/**
 * Invites addresses, anew where the invitation is over, or gives the members and invitations with them other roles, in this
 * order. Returns new invitations.
 */
export const saveMembers = async (
  tx: Queries,
  listId: string,
  members: readonly NewMember[],
): Promise<{ email: string; id: string }[]> => {
  const emails = members.map(({ email }) => email);
  await tx`
    delete from list_members where list_id = ${listId} and email = any(${emails}) and ${tx.unsafe(isOutdated)}`;
  const rows = await tx<{ email: string; id: string; isNew: boolean }[]>`
    insert into list_members (list_id, email, role, invitation, invited_at)
    select ${listId}, email, role, invitation, now() from unnest(
      ${emails}::text[], ${members.map(({ role }) => role)}::text[], ${members.map(() => uuidv7())}::uuid[]) as member (email, role, invitation)
    on conflict (list_id, email) do update set role = excluded.role
    returning email, invitation as id, old.list_id is null as "isNew"`;
  return rows.filter(({ isNew }) => isNew);
};

/** Gives a member another address in all lists, in place of an invitation of that address. */
export const changeAddress = async (tx: Queries, userId: string, email: string): Promise<void> => {
  await tx`
    delete from list_members where email = ${email} and user_id is null
      and list_id in (select list_id from list_members where user_id = ${userId})`;
  await tx`update list_members set email = ${email} where user_id = ${userId}`;
};

/** Removes members and invitations. Their tasks have no assignee then, the 201st and further ones some seconds later. */
export const deleteMembers = async (
  tx: Queries,
  listId: string,
  emails: readonly string[],
): Promise<void> => {
  const removed = await tx<{ userId: string | null }[]>`
    delete from list_members where list_id = ${listId} and email = any(${emails}) returning user_id as "userId"`;
  const userIds = removed.flatMap(({ userId }) => userId ?? []);
  if (userIds.length > 0 && (await unassignSlice(tx, listId, userIds))) await leaveRest(tx, listId, userIds);
};

/** Members of a list with those that are invited, and owners without these. */
export const countMembers = async (tx: Queries, listId: string) => {
  const [counts] = await tx<[{ members: number; owners: number }]>`
    select count(*)::int as members, count(user_id) filter (where role = 'owner')::int as owners
    from list_members where list_id = ${listId}`;
  return counts;
};

/** The list that a user joined first, and their address in it; undefined for who is in none. */
export const findMembership = async (
  tx: Queries,
  userId: string,
): Promise<{ listId: string; email: string } | undefined> => {
  const [member] = await tx<{ listId: string; email: string }[]>`
    select list_id as "listId", email from list_members where user_id = ${userId} order by list_id limit 1`;
  return member;
};

/** Makes the first of the other editors an owner where no other member is one. Returns whether there is another owner then. */
export const passOn = async (tx: Queries, { listId, userId }: Entry): Promise<boolean> => {
  const { count } = await tx`
    update list_members set role = 'owner' where list_id = ${listId} and user_id = (
      select user_id from list_members
      where list_id = ${listId} and user_id <> ${userId} and role in ('owner', 'editor')
      order by role = 'owner' desc, invitation limit 1)`;
  return count === 1;
};

/** Deletes a list with its members and invitations, and its tasks, the 1,001st and further ones some seconds later. */
export const deleteList = async (tx: Queries, listId: string): Promise<void> => {
  await lists.remove(tx, { id: listId });
  if (await deleteSlice(tx, 'tasks', 'owner_id', listId)) await leaveRest(tx, listId, [null]);
};

/** Open invitations of a list, and the addresses. */
export const findInvitations = (sql: Queries, listId: string): Promise<(Coded & { email: string })[]> =>
  sql`
    select list_id as owner, invitation as id, email from list_members
    where list_id = ${listId} and user_id is null and not (${sql.unsafe(isOutdated)})`;

/** Makes a user with the invited address a member, also when they are it already. Returns whether they are. */
export const acceptInvitation = async (
  tx: Queries,
  { owner: listId, id }: Coded,
  userId: string,
): Promise<boolean> => {
  const { count } = await tx`
    update list_members set user_id = ${userId}
    where list_id = ${listId} and invitation = ${id} and email = (select email from users where id = ${userId})
      and coalesce(user_id = ${userId}, not (${tx.unsafe(isOutdated)}))`;
  return count === 1;
};
