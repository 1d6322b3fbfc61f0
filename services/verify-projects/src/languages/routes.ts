import { fullList } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { Language, LanguageInput, LanguageList, LanguagePath } from './schema.ts';
import { listLanguages, putLanguage, removeLanguage } from './use-cases.ts';

const tag = 'Languages';

export const languageRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/languages',
      operationId: 'listLanguages',
      tag,
      summary: 'All languages, by code',
      auth: ctx.reader,
      responses: { 200: { description: 'The whole list as one page', body: LanguageList } },
    },
    async () => ({ status: 200, body: fullList('languages', await listLanguages(ctx)) }),
  ),
  route(
    {
      method: 'put',
      path: '/languages/{code}',
      operationId: 'putLanguage',
      tag,
      summary: 'Add or replace a language',
      auth: ctx.admin,
      params: LanguagePath,
      body: {
        schema: LanguageInput,
        example: { name: 'Brazilian Portuguese', native_name: 'Português (Brasil)', direction: 'ltr' },
      },
      responses: {
        200: { description: 'The language was replaced', body: Language },
        201: { description: 'The language was added', body: Language },
      },
    },
    async ({ params, body }) => {
      const language = { ...params, ...body };
      return { status: (await putLanguage(ctx, language)) ? 201 : 200, body: language };
    },
  ),
  route(
    {
      method: 'delete',
      path: '/languages/{code}',
      operationId: 'deleteLanguage',
      tag,
      summary: 'Delete a language; projects that use it keep its code',
      auth: ctx.admin,
      params: LanguagePath,
      responses: { 204: { description: 'The language is deleted' } },
      problems: [404],
    },
    async ({ params }) => {
      await removeLanguage(ctx, params.code);
      return { status: 204 };
    },
  ),
];
