import { expectedVersions } from '@platform/service-kit/etag';
import { record } from '@platform/service-kit/record';
import { documentedHeaders, versionHeaders, versionOf } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { Language, LanguageInput, LanguageList, LanguagePath } from './schema.ts';
import { languagesOf, putLanguage } from './use-cases.ts';

const [name, tag] = ['language', 'Languages'];
const { etag: headers, ifMatch } = documentedHeaders(name);

export const languageRoutes = (ctx: Context): Route[] => {
  const { page, find, remove } = languagesOf(ctx);
  return [
    ...record({
      path: '/languages',
      basePath: '/v1',
      params: LanguagePath,
      tag,
      name,
      schema: Language,
      read: ctx.reader,
      write: ctx.admin,
      sql: ctx.database.sql,
      list: { summary: 'All languages, by code, as one page', body: LanguageList, page },
      find,
      remove: { delete: remove },
    }),
    route(
      {
        method: 'put',
        path: '/languages/{code}',
        operationId: 'putLanguage',
        tag,
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
      async ({ params, body, req }) => {
        const { json, isNew } = await putLanguage(ctx, { ...params, ...body }, expectedVersions(req));
        return { status: isNew ? 201 : 200, headers: versionHeaders(versionOf(json)), rawBody: json };
      },
    ),
  ];
};
