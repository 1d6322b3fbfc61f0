import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import { inTransaction, record } from '@platform/service-kit/record';
import { noStore, orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { bytesOf } from '../tasks/written-limit.ts';
import { deleteList, findInvitations, findLists, lists } from './queries.ts';
import {
  Invitations,
  Joining,
  List,
  ListPatch,
  ListPath,
  ListQuery,
  Lists,
  maxLists,
  NewList,
} from './schema.ts';
import { changeList, createList, requireRight, joinList } from './use-cases.ts';

const tag = 'Lists';
/** Bytes of an invitation's row without its address, together with its entry in the change log. */
const invitationBytes = 500;

export const listRoutes = ({
  tokens,
  limitWritten,
  invitations,
  mails,
  database: { sql },
}: Context): Route[] => {
  const user = tokens.guard();
  const listUserOf = ({ params, caller }: { params: { id: string }; caller: { subject: string } }) => ({
    listId: params.id,
    userId: caller.subject,
  });
  const routes = record({
    path: '/lists',
    basePath: '/api/v1',
    params: ListPath,
    tag,
    name: 'list',
    schema: List,
    read: user,
    write: user,
    sql,
    list: {
      summary: 'Your lists, oldest first',
      query: ListQuery,
      body: Lists,
      page: async (query, { caller }) => {
        const page = pageOf(query);
        return pageListJson('lists', page, slice(await findLists(sql, caller.subject, page), page.limit));
      },
    },
    find: async (tx, target, lock) => {
      await requireRight(tx, listUserOf(target), lock ? 'leave' : 'read');
      return lists.find(tx, target.params, false);
    },
    create: {
      input: NewList,
      example: { name: 'Our household' },
      conflict: `409 \`too_many_lists\` if the user is already in ${maxLists} lists.`,
      keep: limitWritten,
      insert: async (sql, { name }, { caller }) => {
        await limitWritten?.(caller.subject, bytesOf({ name }));
        return inTransaction(sql, (tx) => createList(tx, caller.subject, name));
      },
    },
    change: {
      patch: ListPatch,
      example: { members: { 'my-guest@example.test': { role: 'editor' } } },
      save: async (sql, patch, target) => {
        const invitations = Object.values(patch.members ?? {}).filter((member) => member !== null);
        if (invitations.length > 0)
          await limitWritten?.(target.caller.subject, bytesOf(patch) + invitations.length * invitationBytes);
        return inTransaction(sql, (tx) => changeList(tx, mails, listUserOf(target), patch));
      },
    },
    remove: {
      delete: async (tx, target) => {
        await requireRight(tx, listUserOf(target), 'manage');
        await deleteList(tx, target.params.id);
      },
    },
  });
  const codes = route(
    {
      method: 'get',
      path: '/lists/{id}/invitations',
      operationId: 'getInvitations',
      tag,
      summary: 'Codes of open invitations',
      description: 'For owners, who can pass the codes on.',
      auth: user,
      params: ListPath,
      responses: { 200: { description: 'Codes by invited address', body: Invitations } },
      problems: [403, 404],
    },
    async (target) => {
      await requireRight(sql, listUserOf(target), 'invite');
      const openInvitations = await findInvitations(sql, target.params.id);
      const codes = Object.fromEntries(
        openInvitations.map(({ email, ...invitation }) => [email, invitations.codeOf(invitation)]),
      );
      return { status: 200, headers: noStore, body: { codes } };
    },
  );
  const join = route(
    {
      method: 'post',
      path: '/lists/join',
      operationId: 'joinList',
      tag,
      summary: 'Accept an invitation',
      description: 'The invitation must be addressed to your email address.',
      auth: user,
      body: { schema: Joining },
      responses: { 200: { description: 'The list that you have joined', body: List } },
      problems: [404, 409],
    },
    async ({ body, caller }) => {
      const invitation = orNotFound(invitations.read(body.code), 'invitation');
      const json = await sql.begin((tx) => joinList(tx, invitation, caller.subject));
      return { status: 200, headers: noStore, rawBody: json };
    },
  );
  // `/lists/join` is first, because `/lists/{id}` matches it.
  return [join, codes, ...routes];
};
