import { windowOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { expectedVersions, isNotModified } from '@platform/service-kit/etag';
import {
  etagHeader,
  ifMatch,
  ifNoneMatch,
  ListQuery,
  Quest,
  QuestInput,
  QuestPath,
  versionHeaders,
} from './schema.ts';
import { createQuest, getQuest, listQuests, removeQuest, renameQuest } from './use-cases.ts';

type Row = Awaited<ReturnType<typeof getQuest>>;

const shown = ({ createdAt, updatedAt, ...quest }: Row) => ({
  ...quest,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

const tag = 'Quests';

export const questRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/quests',
      operationId: 'listQuests',
      tag,
      summary: 'Quests, newest first',
      auth: ctx.reader,
      query: ListQuery,
      anyCaseQuery: true,
      responses: { 200: { description: 'Some of the quests', body: z.array(Quest) } },
    },
    async ({ query }) => ({ status: 200, body: (await listQuests(ctx, windowOf(query))).map(shown) }),
  ),
  route(
    {
      method: 'post',
      path: '/quests',
      operationId: 'createQuest',
      tag,
      summary: 'Create a quest without questions',
      auth: ctx.writer,
      body: { schema: QuestInput, example: { title: 'Breakfast' } },
      responses: {
        201: {
          description: 'The new quest',
          body: Quest,
          headers: { ...etagHeader, Location: 'The address of the quest' },
        },
      },
    },
    async ({ body }) => {
      const quest = await createQuest(ctx, body);
      const headers = { ...versionHeaders(quest.version), Location: `/v1/quests/${quest.questId}` };
      return { status: 201, headers, body: shown(quest) };
    },
  ),
  route(
    {
      method: 'get',
      path: '/quests/{questId}',
      operationId: 'getQuest',
      tag,
      summary: 'One quest, without its questions',
      auth: ctx.reader,
      params: QuestPath,
      headers: ifNoneMatch,
      responses: {
        200: { description: 'The quest', body: Quest, headers: etagHeader },
        304: { description: 'The caller has the current version' },
      },
      problems: [404],
    },
    async ({ params, req }) => {
      const quest = await getQuest(ctx, params.questId);
      const headers = versionHeaders(quest.version);
      if (isNotModified(req, quest.version)) return { status: 304, headers };
      return { status: 200, headers, body: shown(quest) };
    },
  ),
  route(
    {
      method: 'patch',
      path: '/quests/{questId}',
      operationId: 'renameQuest',
      tag,
      summary: 'Change the title of a quest',
      auth: ctx.writer,
      params: QuestPath,
      headers: ifMatch,
      body: { schema: QuestInput, example: { title: 'Hiking' } },
      responses: { 200: { description: 'The quest', body: Quest, headers: etagHeader } },
      problems: [404, 412],
    },
    async ({ params, body, req }) => {
      const target = { ...params, expected: expectedVersions(req) };
      const quest = await renameQuest(ctx, target, body.title);
      return { status: 200, headers: versionHeaders(quest.version), body: shown(quest) };
    },
  ),
  route(
    {
      method: 'delete',
      path: '/quests/{questId}',
      operationId: 'deleteQuest',
      tag,
      summary: 'Delete a quest and its questions',
      auth: ctx.writer,
      params: QuestPath,
      headers: ifMatch,
      responses: { 204: { description: 'The quest is deleted' } },
      problems: [404, 412],
    },
    async ({ params, req }) => {
      await removeQuest(ctx, { ...params, expected: expectedVersions(req) });
      return { status: 204 };
    },
  ),
];
