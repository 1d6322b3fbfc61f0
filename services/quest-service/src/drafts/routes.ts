import { jsonBytes } from '@platform/service-kit/body';
import { isNotModified } from '@platform/service-kit/etag';
import { documentedHeaders, privateCache, versionHeaders } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { requestsFor } from '../large-pages.ts';
import { publishQuestions } from '../questions/publishing.ts';
import { targetOf } from '../questions/routes.ts';
import { DraftQuery, Quest, QuestPath } from '../quests/schema.ts';
import { deleteDraft, publishQuest } from '../quests/use-cases.ts';
import { exportQuest, importQuest, maxFile, QuestFile } from './file.ts';

const { etag, ifNoneMatch, ifMatch } = documentedHeaders('quest');
const filePath = '/quests/{questId}/export';
const tag = 'Quests';

/** The routes that publish drafts, and export and import quests as files. */
export const draftRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/quests/{questId}/publish',
      operationId: 'publishQuest',
      tag,
      summary: 'Publish a draft',
      description:
        'Publishes a quest that is a draft, or the draft of a published quest. 409 `not_publishable` has the errors. Without a draft, nothing changes.',
      auth: ctx.writer,
      params: QuestPath,
      headers: ifMatch('change'),
      responses: { 200: { description: 'The published quest', body: Quest, headers: etag } },
      problems: [404, 409, 412],
    },
    async (request) => {
      const quest = await publishQuest(ctx, targetOf(request), publishQuestions);
      return { status: 200, headers: versionHeaders(quest.version), body: quest };
    },
  ),
  route(
    {
      method: 'delete',
      path: '/quests/{questId}/draft',
      operationId: 'deleteDraft',
      tag,
      summary: 'Delete the draft of a published quest',
      auth: ctx.writer,
      params: QuestPath,
      headers: ifMatch('delete'),
      responses: { 204: { description: 'The draft is deleted' } },
      problems: [404, 412],
    },
    async (request) => {
      await deleteDraft(ctx, targetOf(request));
      return { status: 204, headers: privateCache };
    },
  ),
  route(
    {
      method: 'get',
      path: filePath,
      operationId: 'exportQuest',
      tag,
      summary: 'A quest with its questions as one file',
      auth: ctx.exporter,
      params: QuestPath,
      query: DraftQuery,
      headers: ifNoneMatch,
      responses: {
        200: { description: 'The file', body: QuestFile, headers: etag },
        304: { description: 'The caller has the current version', headers: etag },
      },
      problems: [404, 409],
    },
    async ({ params: { questId }, query: { draft }, req, countAs }) => {
      const hasVersion = (version: string) => isNotModified(req, version);
      const { version, file } = await exportQuest(ctx, { questId, draft, hasVersion, countAs });
      const headers = versionHeaders(version);
      return file === undefined ? { status: 304, headers } : { status: 200, headers, rawBody: file };
    },
  ),
  route(
    {
      method: 'put',
      path: filePath,
      operationId: 'importQuest',
      tag,
      summary: 'Import a quest from a file',
      description: 'Replaces the quest and its questions, or its draft.',
      auth: ctx.writer,
      params: QuestPath,
      query: DraftQuery,
      headers: ifMatch('change'),
      body: { schema: QuestFile, raw: true },
      responses: { 204: { description: 'The file is stored', headers: etag } },
      problems: [404, 409, 412, 413, 415],
    },
    async ({ res, query: { draft }, countAs, ...request }) => {
      const readFile = jsonBytes(['application/json'], maxFile, ctx.bodyBudget);
      const file = (await readFile(request.req, res)) ?? Buffer.alloc(0);
      countAs(requestsFor(file.length));
      const version = await importQuest(ctx, { ...targetOf(request), draft }, file);
      return { status: 204, headers: versionHeaders(version) };
    },
  ),
];
