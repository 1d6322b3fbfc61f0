import { Conflict, NotFound, Problem } from '@platform/service-kit/problem';
import type { Queries, Stored } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import { v7 as uuidv7 } from 'uuid';
import { listRoles } from '../db/tables.ts';
import type { Coded } from '../codes.ts';
import type { Mails } from '../mails/use-cases.ts';
export { changeAddress, findListIds, lockLists } from './queries.ts';
import { deleteSlice } from '../slices.ts';
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
  passOn,
  saveMembers,
  type Entry,
  type ListRole,
} from './queries.ts';
import { unassignSlice } from './leftovers.ts';
import { maxLists, maxMembers, type List, type ListPatch } from './schema.ts';

interface Right {
  roles: readonly ListRole[];
  lock?: 'share' | 'update';
}

/**
 * Who may do something in a list, and how the list is locked meanwhile: many may write at once, but not while members
 * change. So who may write when a transaction begins may do so until it is committed (docs/adr/0140).
 */
const rights = {
  read: { roles: listRoles },
  invite: { roles: ['owner'] },
  write: { roles: ['owner', 'editor'], lock: 'share' },
  leave: { roles: listRoles, lock: 'update' },
  manage: { roles: ['owner'], lock: 'update' },
} satisfies Record<string, Right>;

/** Throws NotFound for somebody else's list, and a Problem (403 `role_required`) where the role of the user is not enough. */
export const enter = async (sql: Queries, entry: Entry, right: keyof typeof rights): Promise<void> => {
  const { roles, lock }: Right = rights[right];
  const requireRole = async (): Promise<void> => {
    const role = orNotFound(await findRole(sql, entry), 'list');
    if (!roles.includes(role))
      throw new Problem({
        status: 403,
        code: 'role_required',
        detail: `Your role in this list is ${role}; this needs ${roles.join(' or ')}.`,
      });
  };
  // Nobody keeps a list from others without a right to it.
  if (lock === 'update') await requireRole();
  // In two statements: one that waits for a lock sees the roles from before it waited.
  if (lock !== undefined) await lockList(sql, entry.listId, lock);
  await requireRole();
};

/** Whether a user is a member, and not only invited. */
export const isMember = async (sql: Queries, entry: Entry): Promise<boolean> =>
  (await findRole(sql, entry)) !== undefined;

/** The lists in which a user may change tasks. */
export const findWritableLists = (sql: Queries, userId: string): Promise<string[]> =>
  findListsByRole(sql, userId, rights.write.roles);

const requireRoom = async (tx: Queries, userId: string): Promise<void> => {
  if ((await countLists(tx, userId)) >= maxLists)
    throw new Conflict('too_many_lists', `You are in ${maxLists} lists; leave or delete one.`);
};

/** A list with its first owner. Throws Conflict `too_many_lists`. */
export const createList = async (tx: Queries, userId: string, name: string): Promise<Stored> => {
  await requireRoom(tx, userId);
  const id = uuidv7();
  await lists.insert(tx, { id, name, createdAt: tx`now()`, updatedAt: tx`now()` });
  await insertOwner(tx, { listId: id, userId });
  return { id, json: orNotFound(await lists.find(tx, { id }, false), 'list') };
};

/**
 * Renames a list, invites, changes roles and removes members. Who is not an owner may only leave. Throws Conflict
 * `last_owner` and `too_many_members`. Sends invitations by mail if `mails` is defined. The result is the same for every
 * address, so that nobody learns which ones have an account.
 */
export const changeList = async (
  tx: TransactionSql,
  mails: Mails | undefined,
  { listId, userId }: Entry,
  { name, members = {} }: ListPatch,
): Promise<string> => {
  const before = JSON.parse(orNotFound(await lists.find(tx, { id: listId }, false), 'list')) as List;
  // In one order, because each invitation locks its address.
  const entries = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const isLeaving = ([email, member]: (typeof entries)[number]) =>
    member === null && before.members[email]?.userId === userId;
  if (name !== undefined || !entries.every(isLeaving)) await enter(tx, { listId, userId }, 'manage');
  const gone = entries.flatMap(([email, member]) => (member === null ? [email] : []));
  if (gone.length > 0) await deleteMembers(tx, listId, gone);
  const saved = entries.flatMap(([email, member]) => (member === null ? [] : [{ email, role: member.role }]));
  const invited = saved.length > 0 ? await saveMembers(tx, listId, saved) : [];
  if (invited.length > 0) await mails?.invite(tx, { listId, userId }, invited);
  const counts = await countMembers(tx, listId);
  if (counts.owners === 0)
    throw new Conflict('last_owner', 'A list needs an owner: make another member one, or delete the list.');
  if (counts.members > maxMembers)
    throw new Conflict('too_many_members', `A list has ${maxMembers} members and invitations at most.`);
  return lists.update(tx, { id: listId }, { name, updatedAt: tx`now()` });
};

/**
 * Makes a user a member of the list that their address is invited to. Throws NotFound for another user and for an
 * invitation that is over, and Conflict `too_many_lists`. Returns the list.
 */
export const joinList = async (tx: TransactionSql, invitation: Coded, userId: string): Promise<string> => {
  if (!(await isMember(tx, { listId: invitation.owner, userId }))) await requireRoom(tx, userId);
  if (!(await acceptInvitation(tx, invitation, userId))) throw new NotFound('invitation');
  return orNotFound(await lists.find(tx, { id: invitation.owner }, false), 'list');
};

/**
 * Takes a user out of one of their lists. One that has no other owner passes to the editor who was invited first, or else is
 * deleted, some tasks in a transaction. Returns false when the user is in no list.
 */
export const leaveList = async (tx: Queries, userId: string): Promise<boolean> => {
  const membership = await findMembership(tx, userId);
  if (membership === undefined) return false;
  const { listId, email } = membership;
  await lockList(tx, listId, 'update');
  if (await passOn(tx, { listId, userId })) {
    if (await unassignSlice(tx, listId, [userId])) return true;
    await deleteMembers(tx, listId, [email]);
    await lists.update(tx, { id: listId }, { updatedAt: tx`now()` });
  } else if (!(await deleteSlice(tx, 'tasks', 'owner_id', listId))) await deleteList(tx, listId);
  return true;
};
