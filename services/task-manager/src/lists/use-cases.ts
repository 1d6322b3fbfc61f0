import { Conflict, NotFound, Problem } from '@platform/service-kit/problem';
import type { Queries, Stored } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import { v7 as uuidv7 } from 'uuid';
import { listRoles } from '../db/tables.ts';
import type { CodedRow } from '../codes.ts';
import type { Mails } from '../mails/use-cases.ts';
export { changeMemberEmail, findListIds, lockLists } from './queries.ts';
import { deleteSome } from '../delete-some.ts';
import {
  acceptInvitation,
  countLists,
  countMembers,
  deleteList,
  deleteMembers,
  findListsByRole,
  findMembership,
  findRole,
  insertOwner,
  lists,
  lockList,
  ensureOtherOwner,
  saveMembers,
  type ListUser,
  type ListRole,
} from './queries.ts';
import { unassignSome } from './leftovers.ts';
import { maxLists, maxMembers, type List, type ListPatch } from './schema.ts';

interface Right {
  roles: readonly ListRole[];
  lock?: 'share' | 'update';
}

/**
 * The roles that may do something in a list, and how the list is locked meanwhile: many transactions may write at once, but not
 * while members change. So a user who may write when a transaction starts may do so until it is committed (docs/adr/0140).
 */
const rights = {
  read: { roles: listRoles },
  invite: { roles: ['owner'] },
  write: { roles: ['owner', 'editor'], lock: 'share' },
  leave: { roles: listRoles, lock: 'update' },
  manage: { roles: ['owner'], lock: 'update' },
} satisfies Record<string, Right>;

/** Locks the list as the right needs. Throws NotFound if the user is not a member, and 403 `role_required` for another role. */
export const requireRight = async (
  sql: Queries,
  listUser: ListUser,
  right: keyof typeof rights,
): Promise<void> => {
  const { roles, lock }: Right = rights[right];
  const requireRole = async (): Promise<void> => {
    const role = orNotFound(await findRole(sql, listUser), 'list');
    if (!roles.includes(role))
      throw new Problem({
        status: 403,
        code: 'role_required',
        detail: `Your role in this list is ${role}; this operation needs ${roles.join(' or ')}.`,
      });
  };
  // A lock for update blocks the list, so the role is checked before it too.
  if (lock === 'update') await requireRole();
  // Lock and check are two statements, because a statement that waits for a lock sees the roles from before the wait.
  if (lock !== undefined) await lockList(sql, listUser.listId, lock);
  await requireRole();
};

/** Returns whether a user is a member; an invitation is not enough. */
export const isMember = async (sql: Queries, listUser: ListUser): Promise<boolean> =>
  (await findRole(sql, listUser)) !== undefined;

/** Ids of the lists in which a user may change tasks. */
export const findWritableLists = (sql: Queries, userId: string): Promise<string[]> =>
  findListsByRole(sql, userId, rights.write.roles);

const requireFewerLists = async (tx: Queries, userId: string): Promise<void> => {
  if ((await countLists(tx, userId)) >= maxLists)
    throw new Conflict('too_many_lists', `You are in ${maxLists} lists; leave or delete one.`);
};

/** Creates a list with its first owner. Throws Conflict `too_many_lists`. */
export const createList = async (tx: Queries, userId: string, name: string): Promise<Stored> => {
  await requireFewerLists(tx, userId);
  const id = uuidv7();
  await lists.insert(tx, { id, name, createdAt: tx`now()`, updatedAt: tx`now()` });
  await insertOwner(tx, { listId: id, userId });
  return { id, json: orNotFound(await lists.find(tx, { id }, false), 'list') };
};

/**
 * Renames a list, invites, changes roles and removes members. Members who are not owners may only leave. Throws Conflict
 * `last_owner` and `too_many_members`. Sends invitations by mail if `mails` is defined. The result is the same for every address,
 * so that it does not reveal which addresses have an account.
 */
export const changeList = async (
  tx: TransactionSql,
  mails: Mails | undefined,
  { listId, userId }: ListUser,
  { name, members = {} }: ListPatch,
): Promise<string> => {
  const before = JSON.parse(orNotFound(await lists.find(tx, { id: listId }, false), 'list')) as List;
  // Sorted, because each invitation locks its address: a fixed order avoids deadlocks.
  const entries = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const isLeaving = ([email, member]: (typeof entries)[number]) =>
    member === null && before.members[email]?.userId === userId;
  if (name !== undefined || !entries.every(isLeaving)) await requireRight(tx, { listId, userId }, 'manage');
  const removedEmails = entries.flatMap(([email, member]) => (member === null ? [email] : []));
  if (removedEmails.length > 0) await deleteMembers(tx, listId, removedEmails);
  const changedMembers = entries.flatMap(([email, member]) =>
    member === null ? [] : [{ email, role: member.role }],
  );
  const invitations = changedMembers.length > 0 ? await saveMembers(tx, listId, changedMembers) : [];
  if (invitations.length > 0) await mails?.invite(tx, { listId, userId }, invitations);
  const counts = await countMembers(tx, listId);
  if (counts.owners === 0)
    throw new Conflict(
      'last_owner',
      'A list needs an owner: make another member an owner, or delete the list.',
    );
  if (counts.members > maxMembers)
    throw new Conflict(
      'too_many_members',
      `A list may have at most ${maxMembers} members and invitations; remove some first.`,
    );
  return lists.update(tx, { id: listId }, { name, updatedAt: tx`now()` });
};

/**
 * Makes a user a member of the list to which their address is invited, and returns the list. Throws NotFound when the invitation
 * is for another address or has expired, and Conflict `too_many_lists`.
 */
export const joinList = async (tx: TransactionSql, invitation: CodedRow, userId: string): Promise<string> => {
  const { parentId: listId } = invitation;
  if (!(await isMember(tx, { listId, userId }))) await requireFewerLists(tx, userId);
  if (!(await acceptInvitation(tx, invitation, userId))) throw new NotFound('invitation');
  return orNotFound(await lists.find(tx, { id: listId }, false), 'list');
};

/**
 * Removes a user from one of their lists. A list without another owner passes to the editor who was invited first; without an
 * editor it is deleted. Call it repeatedly, in one transaction each, until it returns false: then the user is in no list.
 */
export const leaveList = async (tx: Queries, userId: string): Promise<boolean> => {
  const membership = await findMembership(tx, userId);
  if (membership === undefined) return false;
  const { listId, email } = membership;
  await lockList(tx, listId, 'update');
  if (await ensureOtherOwner(tx, { listId, userId })) {
    const mayHaveMore = await unassignSome(tx, listId, [userId]);
    if (mayHaveMore) return true;
    await deleteMembers(tx, listId, [email]);
    await lists.update(tx, { id: listId }, { updatedAt: tx`now()` });
  } else if (!(await deleteSome(tx, 'tasks', 'owner_id', listId))) await deleteList(tx, listId);
  return true;
};
