import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { windowOf } from '@platform/pagination/list';
import { noLookupLimit, route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { copies, requestsFor } from '../large-pages.ts';
import { jsonBytes } from '@platform/service-kit/body';
import { idempotencyKeyHeader, idempotencyKeyOf } from '@platform/service-kit/idempotency';
import { expectedVersions, isNotModified } from '@platform/service-kit/etag';
import { documentedHeaders, versionHeaders as draftHeaders } from '@platform/service-kit/record-versions';
import { NotFound } from '@platform/service-kit/problem';
import { DraftQuery, QuestPath, versionHeaders } from '../quests/schema.ts';
import type { Target } from '../quests/use-cases.ts';
import { parseQuestionList } from './list-input.ts';
import { serialiseList } from './serialised.ts';
import { PageQuery, Question, QuestionInput, QuestionListInput, QuestionPath } from './schema.ts';
import {
  addQuestion,
  getQuestion,
  listDraft,
  listQuestions,
  removeQuestion,
  replaceQuestion,
  replaceQuestions,
} from './use-cases.ts';

/** Maximum size of a list in bytes; enough for 10,000 questions in a few languages. */
const listLimit = 32 * 1024 * 1024;

const tag = 'Questions';
const { etag, ifNoneMatch, ifMatch } = documentedHeaders('quest');
const ifMatchToChange = ifMatch('change');
const listPath = '/quests/{questId}/questions';
const questionPath = '/quests/{questId}/questions/{questionId}';

const example: z.input<typeof QuestionInput> = {
  type: 'OPEN_TEXT',
  presentation: 'VERTICAL',
  titles: [{ languageCode: 'en-US', title: 'What would you like?' }],
};

interface ChangeRequest {
  params: { questId: string };
  caller: Caller;
  req: IncomingMessage;
}

/** The quest that a request changes. */
export const targetOf = ({ params: { questId }, caller, req }: ChangeRequest): Target => ({
  questId,
  caller: caller.subject,
  expected: expectedVersions(req),
});

export const questionRoutes = (ctx: Context): Route[] => [
  route(
    {
      // Without the cache, each page needs a query; requests through Express are refused early when too many wait for one.
      fast: ctx.pages !== undefined,
      method: 'get',
      path: listPath,
      operationId: 'listQuestions',
      tag,
      summary: 'Questions of a quest, in order',
      description:
        'The names Skip and Take are case-insensitive. A draft returns 404 without a token that has the scope quests:read.',
      auth: ctx.reader,
      params: QuestPath,
      query: PageQuery,
      anyCaseQuery: true,
      headers: ifNoneMatch,
      responses: {
        200: { description: 'Some of the questions', body: z.array(Question), headers: etag },
        304: { description: 'The caller has the current version', headers: etag },
      },
      problems: [404, 414, 431],
    },
    async ({ params: { questId }, query, req }) => {
      const hasVersion = (version: string): boolean => isNotModified(req, version);
      const window = windowOf(query);
      const published = await listQuestions(ctx, questId, window, hasVersion);
      // The token is verified only here, so that reading published questions does not pay for it.
      if (published === undefined && (await ctx.draftReader.identify(req, noLookupLimit)) === undefined)
        throw new NotFound('quest');
      const { version, json } = published ?? (await listDraft(ctx, questId, window));
      const headers = published ? versionHeaders(version) : draftHeaders(version);
      if (json === undefined || hasVersion(version)) return { status: 304, headers };
      return { status: 200, headers, rawBody: json };
    },
  ),
  route(
    {
      method: 'put',
      path: listPath,
      operationId: 'replaceQuestions',
      tag,
      summary: 'Replace all questions of a quest',
      description: 'A list that was read with GET can be sent back. Missing ids are generated.',
      auth: ctx.writer,
      params: QuestPath,
      query: DraftQuery,
      headers: ifMatchToChange,
      body: { schema: QuestionListInput, raw: true },
      responses: { 200: { description: 'The new list', body: z.array(Question), headers: etag } },
      problems: [404, 409, 412, 413, 415],
    },
    async ({ res, query: { draft }, countAs, ...request }) => {
      const target = { ...targetOf(request), draft };
      const readList = jsonBytes(['application/json'], listLimit, ctx.bodyBudget);
      let body = (await readList(request.req, res)) ?? Buffer.alloc(0);
      countAs(requestsFor(body.length));
      const { version, result } = await ctx.largeWork.run(body.length * copies, async () => {
        const questions = await parseQuestionList(body);
        // Frees the memory of the body: the questions have their own text.
        body = Buffer.alloc(0);
        return replaceQuestions(ctx, target, serialiseList(questions));
      });
      return { status: 200, headers: versionHeaders(version), rawBody: result };
    },
  ),
  route(
    {
      method: 'post',
      path: listPath,
      operationId: 'addQuestion',
      tag,
      summary: 'Add a question',
      description: 'At its orderNumber, or at the end.',
      auth: ctx.writer,
      params: QuestPath,
      headers: { ...ifMatchToChange, ...idempotencyKeyHeader },
      body: { schema: QuestionInput, example },
      responses: {
        201: {
          description: 'The new question',
          body: Question,
          headers: { ...etag, Location: 'The address of the question' },
        },
      },
      problems: [404, 409, 412, 422],
    },
    async ({ body, ...request }) => {
      const { params, req } = request;
      const idempotencyKey = idempotencyKeyOf(req);
      const target = { ...targetOf(request), idempotencyKey, request: { params, body } };
      const { version, result } = await addQuestion(ctx, target, body);
      const Location = `/v1/quests/${params.questId}/questions/${result.questionId}`;
      return {
        status: 201,
        headers: { ...versionHeaders(version), Location },
        rawBody: JSON.stringify(result),
      };
    },
  ),
  route(
    {
      method: 'get',
      path: questionPath,
      operationId: 'getQuestion',
      tag,
      summary: 'One question of a quest',
      auth: ctx.draftReader,
      params: QuestionPath,
      headers: ifNoneMatch,
      responses: {
        200: { description: 'The question', body: Question, headers: etag },
        304: { description: 'The caller has the current version', headers: etag },
      },
      problems: [404],
    },
    async ({ params: { questId, questionId }, caller, req }) => {
      const { version, json } = await getQuestion(ctx, questId, questionId, caller !== undefined);
      const headers = caller ? draftHeaders(version) : versionHeaders(version);
      if (isNotModified(req, version)) return { status: 304, headers };
      return { status: 200, headers, rawBody: json };
    },
  ),
  route(
    {
      method: 'put',
      path: questionPath,
      operationId: 'replaceQuestion',
      tag,
      summary: 'Replace or move a question',
      description: 'Another orderNumber moves it.',
      auth: ctx.writer,
      params: QuestionPath,
      headers: ifMatchToChange,
      body: { schema: QuestionInput, example },
      responses: { 200: { description: 'The question', body: Question, headers: etag } },
      problems: [404, 412],
    },
    async ({ body, ...request }) => {
      const { questionId } = request.params;
      const { version, result } = await replaceQuestion(ctx, targetOf(request), questionId, body);
      return { status: 200, headers: versionHeaders(version), rawBody: JSON.stringify(result) };
    },
  ),
  route(
    {
      method: 'delete',
      path: questionPath,
      operationId: 'deleteQuestion',
      tag,
      summary: 'Delete a question',
      description: 'The following questions move up.',
      auth: ctx.writer,
      params: QuestionPath,
      headers: ifMatchToChange,
      responses: { 204: { description: 'The question is deleted', headers: etag } },
      problems: [404, 412],
    },
    async (request) => {
      const { version } = await removeQuestion(ctx, targetOf(request), request.params.questionId);
      return { status: 204, headers: versionHeaders(version) };
    },
  ),
];
