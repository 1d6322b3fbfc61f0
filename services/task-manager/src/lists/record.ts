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
import { changeList, createList, enter, joinList } from './use-cases.ts';

const tag = 'Lists';
/** Of a row beside its address, and of its entry in the log of changes. */
const invitationBytes = 500;

export const listRoutes = ({
  tokens,
  limitWritten,
  invitations,
  mails,
  database: { sql },
}: Context): Route[] => {
  const user = tokens.guard();
  const entryOf = ({ params, caller }: { params: { id: string }; caller: { subject: string } }) => ({
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
    find: async (on, target, lock) => {
      await enter(on, entryOf(target), lock ? 'leave' : 'read');
      return lists.find(on, target.params, false);
    },
    create: {
      input: NewList,
      example: { name: 'Our household' },
      conflict: `409 \`too_many_lists\` for a user who is in ${maxLists}.`,
      keep: limitWritten,
      insert: async (on, { name }, { caller }) => {
        await limitWritten?.(caller.subject, bytesOf({ name }));
        return inTransaction(on, (tx) => createList(tx, caller.subject, name));
      },
    },
    change: {
      patch: ListPatch,
      example: { members: { 'my-guest@example.test': { role: 'editor' } } },
      save: async (on, patch, target) => {
        const invitations = Object.values(patch.members ?? {}).filter((member) => member !== null);
        if (invitations.length > 0)
          await limitWritten?.(target.caller.subject, bytesOf(patch) + invitations.length * invitationBytes);
        return inTransaction(on, (tx) => changeList(tx, mails, entryOf(target), patch));
      },
    },
    remove: {
      delete: async (on, target) => {
        await enter(on, entryOf(target), 'manage');
        await deleteList(on, target.params.id);
      },
    },
  });
  const codes = route(
    {
      method: 'get',
      path: '/lists/{id}/invitations',
      operationId: 'getInvitations',
      tag,
      summary: 'Secrets of open invitations',
      description: 'For an owner to hand over.',
      auth: user,
      params: ListPath,
      responses: { 200: { description: 'By the invited address', body: Invitations } },
      problems: [403, 404],
    },
    async (target) => {
      await enter(sql, entryOf(target), 'invite');
      const open = await findInvitations(sql, target.params.id);
      const codes = Object.fromEntries(open.map(({ email, ...each }) => [email, invitations.codeOf(each)]));
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
      description: 'It is to your email address.',
      auth: user,
      body: { schema: Joining },
      responses: { 200: { description: 'The list, of which you are a member now', body: List } },
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
