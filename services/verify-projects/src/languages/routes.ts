import { fullListJson } from '@platform/pagination/list';
import { expectedVersions } from '@platform/service-kit/etag';
import { record } from '@platform/service-kit/record';
import { documentedHeaders, versionHeaders, versionOf } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findLanguages, languages } from './queries.ts';
import { Language, LanguageInput, LanguageList, LanguagePath } from './schema.ts';
import { putLanguage } from './use-cases.ts';

const { etag: headers, ifMatch } = documentedHeaders('language');

export const languageRoutes = (ctx: Context): Route[] => [
  ...record({
    path: '/languages',
    basePath: '/v1',
    params: LanguagePath,
    tag: 'Languages',
    name: 'language',
    schema: Language,
    read: ctx.reader,
    write: ctx.admin,
    sql: ctx.database.sql,
    list: {
      summary: 'All languages, by code, as one page',
      body: LanguageList,
      page: async () => fullListJson('languages', await findLanguages(ctx.database.sql)),
    },
    find: (on, { params }, lock) => languages.find(on, params, lock),
    // Projects that name the language keep its code.
    remove: { delete: (on, { params }) => languages.remove(on, params) },
  }),
  route(
    {
      method: 'put',
      path: '/languages/{code}',
      operationId: 'putLanguage',
      tag: 'Languages',
      summary: 'Add or replace a language',
      auth: ctx.admin,
      params: LanguagePath,
      headers: ifMatch('change'),
      body: {
        schema: LanguageInput,
        example: { name: 'Brazilian Portuguese', native_name: 'Português (Brasil)', direction: 'ltr' },
      },
      responses: {
        200: { description: 'The language was replaced', body: Language, headers },
        201: { description: 'The language was added', body: Language, headers },
      },
      problems: [412],
    },
    async ({ params, body, caller, req }) => {
      const change = { expected: expectedVersions(req), caller: caller.subject };
      const { json, isNew } = await putLanguage(ctx, { ...params, ...body }, change);
      return { status: isNew ? 201 : 200, headers: versionHeaders(versionOf(json)), rawBody: json };
    },
  ),
];
