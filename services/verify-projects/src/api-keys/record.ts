import { pageListJson, pageOf } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { apiKeys, findApiKeys } from './queries.ts';
import { ApiKey, ApiKeyList, ApiKeyPath, ApiKeyQuery } from './schema.ts';
import { computedFields } from './use-cases.ts';

/** The routes that list and return keys; keys are created and revoked by routes of their own (routes.ts). */
export const apiKeyRecord = ({ admin, database: { sql } }: Context): Route[] =>
  record({
    path: '/api-keys',
    basePath: '/v1',
    params: ApiKeyPath,
    tag: 'API keys',
    name: 'API key',
    schema: ApiKey,
    computed: computedFields,
    read: admin,
    write: admin,
    sql,
    list: {
      summary: 'API keys, oldest first',
      description: 'Without their secrets. A key is erased 90 days after it was revoked or has expired.',
      query: ApiKeyQuery,
      body: ApiKeyList,
      page: async (query) => {
        const page = pageOf(query);
        return pageListJson('api_keys', page, await findApiKeys(sql, page, query.include === 'revoked'));
      },
    },
    find: (on, { params }, lock) => apiKeys.find(on, params, lock),
  });
