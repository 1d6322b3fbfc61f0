import type { Page } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Queries } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import { listRoles } from '../db/tables.ts';
import type { CodedRow } from '../codes.ts';
import { deleteSome } from '../delete-some.ts';
import { queueLeftovers, unassignSome } from './leftovers.ts';
import { List } from './schema.ts';

export type ListRole = (typeof listRoles)[number];

/** A list and the user who accesses it. */
export interface ListUser {
  listId: string;
  userId: string;
}

/** SQL: the row is an expired invitation. */
const isOutdated = "user_id is null and invited_at < now() - interval '14 days'";

/** Maps rows of `lists` to the JSON of `List`, with members and invitations that have not expired. */
export const lists = jsonTable('lists', Object.keys(List.shape), {
  members: `(
    select json_object_agg(email, json_build_object(
      'role', role,
      'status', case when user_id is null then 'invited' else 'joined' end,
      'userId', user_id,
      'name', (select users.name from users where users.id = user_id)) order by invitation)
    from list_members where list_id = id and not (${isOutdated}))`,
});

/** Expired invitations; deleted in the background. */
export const outdatedInvitations: Prunable = { table: 'list_members', outdated: isOutdated };

/**
 * Locks a list until the transaction ends, shared (`share`) or exclusively (`update`). The advisory lock makes later batches wait
 * behind an exclusive lock that waits: with row locks alone, overlapping batches could delay it without end.
 */
export const lockList = async (tx: Queries, listId: string, mode: 'share' | 'update'): Promise<void> => {
  if (mode === 'update') await tx`select pg_advisory_xact_lock(hashtextextended(${listId}, 0))`;
  await tx`select from lists where id = ${listId} for ${tx.unsafe(mode)}`;
};

/** Takes shared locks on several lists for a batch, in the order of their ids to avoid deadlocks. */
export const lockLists = async (tx: Queries, listIds: readonly string[]): Promise<void> => {
  await tx`
    select pg_advisory_xact_lock_shared(hashtextextended(id, 0))
    from (select unnest(${listIds}::text[]) as id order by id) as ordered`;
  await tx`select from lists where id = any(${listIds}::uuid[]) order by id for share`;
};

/** Ids of the lists in which a user has one of these roles. */
export const findListsByRole = async (
  sql: Queries,
  userId: string,
  roles: readonly ListRole[],
): Promise<string[]> => {
  const rows = await sql<{ listId: string }[]>`
    select list_id as "listId" from list_members where user_id = ${userId} and role = any(${roles})`;
  return rows.map(({ listId }) => listId);
};

/** Ids of all lists of a user. */
export const findListIds = (sql: Queries, userId: string): Promise<string[]> =>
  findListsByRole(sql, userId, listRoles);

/** Role of a user in a list. Undefined when the user is not a member. */
export const findRole = async (sql: Queries, { listId, userId }: ListUser): Promise<ListRole | undefined> => {
  const [member] = await sql<{ role: ListRole }[]>`
    select role from list_members where list_id = ${listId} and user_id = ${userId}`;
  return member?.role;
};

/** Lists of a user, oldest first. Reads one more than the page, to find out whether there is a next page. */
export const findLists = (sql: Queries, userId: string, { offset, limit }: Page): Promise<string[]> =>
  lists.list(
    sql,
    sql`where id in (select list_id from list_members where user_id = ${userId})
      order by id offset ${String(offset)} limit ${limit + 1}`,
  );

/** Counts the lists of a user. Locks the user, so that the number stays the same until the transaction ends. */
export const countLists = async (tx: Queries, userId: string): Promise<number> => {
  await tx`select from users where id = ${userId} for no key update`;
  return (await tx`select from list_members where user_id = ${userId}`).length;
};

/** Adds the creator of a list as an owner, without an invitation. */
export const insertOwner = async (tx: Queries, { listId, userId }: ListUser): Promise<void> => {
  await tx`
    insert into list_members (list_id, email, user_id, role, invitation, invited_at)
    select ${listId}, email, id, 'owner', ${uuidv7()}, now() from users where id = ${userId}`;
};

/** An address to invite, or a member whose role changes. */
export interface NewMember {
  email: string;
  role: ListRole;
}

/**
 * Invites addresses, in this order; changes the role of existing members and invitations, and replaces expired invitations.
 * Returns the new invitations.
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

/** Changes the email address of a member in all lists. Deletes invitations of the new address to these lists. */
export const changeMemberEmail = async (tx: Queries, userId: string, email: string): Promise<void> => {
  await tx`
    delete from list_members where email = ${email} and user_id is null
      and list_id in (select list_id from list_members where user_id = ${userId})`;
  await tx`update list_members set email = ${email} where user_id = ${userId}`;
};

/** Deletes members and invitations. Unassigns up to 200 of their tasks at once, the others in the background. */
export const deleteMembers = async (
  tx: Queries,
  listId: string,
  emails: readonly string[],
): Promise<void> => {
  const removedMembers = await tx<{ userId: string | null }[]>`
    delete from list_members where list_id = ${listId} and email = any(${emails}) returning user_id as "userId"`;
  const userIds = removedMembers.flatMap(({ userId }) => userId ?? []);
  if (userIds.length > 0 && (await unassignSome(tx, listId, userIds)))
    await queueLeftovers(tx, listId, userIds);
};

/** Counts members including invitations, and owners excluding invitations. */
export const countMembers = async (tx: Queries, listId: string) => {
  const [counts] = await tx<[{ members: number; owners: number }]>`
    select count(*)::int as members, count(user_id) filter (where role = 'owner')::int as owners
    from list_members where list_id = ${listId}`;
  return counts;
};

/** The oldest list of a user and their address in it. Undefined when the user is in no list. */
export const findMembership = async (
  tx: Queries,
  userId: string,
): Promise<{ listId: string; email: string } | undefined> => {
  const [member] = await tx<{ listId: string; email: string }[]>`
    select list_id as "listId", email from list_members where user_id = ${userId} order by list_id limit 1`;
  return member;
};

/**
 * Ensures that a list has an owner other than this user: if there is none, the editor who was invited first becomes one. Returns
 * false if there is neither another owner nor an editor.
 */
export const ensureOtherOwner = async (tx: Queries, { listId, userId }: ListUser): Promise<boolean> => {
  const { count } = await tx`
    update list_members set role = 'owner' where list_id = ${listId} and user_id = (
      select user_id from list_members
      where list_id = ${listId} and user_id <> ${userId} and role in ('owner', 'editor')
      order by role = 'owner' desc, invitation limit 1)`;
  return count === 1;
};

/** Deletes a list with its members and invitations. Deletes up to 1,000 of its tasks at once, the others in the background. */
export const deleteList = async (tx: Queries, listId: string): Promise<void> => {
  await lists.remove(tx, { id: listId });
  if (await deleteSome(tx, 'tasks', 'owner_id', listId)) await queueLeftovers(tx, listId, [null]);
};

/** Open invitations of a list with their addresses. */
export const findInvitations = (sql: Queries, listId: string): Promise<(CodedRow & { email: string })[]> =>
  sql`
    select list_id as "parentId", invitation as id, email from list_members
    where list_id = ${listId} and user_id is null and not (${sql.unsafe(isOutdated)})`;

/** Makes a user a member if the invitation is for their address. Returns whether they are a member; true if they were already. */
export const acceptInvitation = async (
  tx: Queries,
  { parentId: listId, id }: CodedRow,
  userId: string,
): Promise<boolean> => {
  const { count } = await tx`
    update list_members set user_id = ${userId}
    where list_id = ${listId} and invitation = ${id} and email = (select email from users where id = ${userId})
      and coalesce(user_id = ${userId}, not (${tx.unsafe(isOutdated)}))`;
  return count === 1;
};
