import { expectedVersions } from '@platform/service-kit/etag';
import { documentedHeaders, versionHeaders, versionOf } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { languageRecord } from './record.ts';
import { Language, LanguageInput, LanguagePath } from './schema.ts';
import { putLanguage } from './use-cases.ts';

const { etag: headers, ifMatch } = documentedHeaders('language');

export const languageRoutes = (ctx: Context): Route[] => [
  ...languageRecord(ctx),
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
