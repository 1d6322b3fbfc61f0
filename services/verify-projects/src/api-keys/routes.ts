import { pageList, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { ApiKey, ApiKeyInput, ApiKeyList, ApiKeyPath, ApiKeyQuery, NewApiKey, Rotation } from './schema.ts';
import { createApiKey, getApiKey, listApiKeys, revokeApiKey, rotateApiKey } from './use-cases.ts';

const tag = 'API keys';

/** A response with a secret must not be cached. */
const headersOf = (id: string) => ({ Location: `/v1/api-keys/${id}`, 'Cache-Control': 'no-store' });
const headers = { Location: 'Address of the key' };

export const apiKeyRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/api-keys',
      operationId: 'listApiKeys',
      tag,
      summary: 'API keys, oldest first, without their secrets',
      description: 'A key is erased 90 days after it was revoked or has expired.',
      auth: ctx.admin,
      query: ApiKeyQuery,
      responses: { 200: { description: 'One page of keys', body: ApiKeyList } },
    },
    async ({ query }) => {
      const page = pageOf(query);
      const keys = await listApiKeys(ctx, page, query.include === 'revoked');
      return { status: 200, body: pageList('api_keys', page, keys) };
    },
  ),
  route(
    {
      method: 'post',
      path: '/api-keys',
      operationId: 'createApiKey',
      tag,
      summary: 'Create an API key; only this response contains it',
      auth: ctx.admin,
      body: { schema: ApiKeyInput, example: { name: 'my client', scopes: ['verify:read'] } },
      responses: { 201: { description: 'The new key', body: NewApiKey, headers } },
    },
    async ({ body, caller }) => {
      const made = await createApiKey(ctx, body);
      ctx.log.info({ apiKey: made.id, by: caller.subject }, 'API key made');
      return { status: 201, headers: headersOf(made.id), body: made };
    },
  ),
  route(
    {
      method: 'get',
      path: '/api-keys/{id}',
      operationId: 'getApiKey',
      tag,
      summary: 'One API key, without its secret',
      auth: ctx.admin,
      params: ApiKeyPath,
      responses: { 200: { description: 'The key', body: ApiKey } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: await getApiKey(ctx, params.id) }),
  ),
  route(
    {
      method: 'post',
      path: '/api-keys/{id}/rotate',
      operationId: 'rotateApiKey',
      tag,
      summary: 'Create a key that replaces another; the old key works for another grace_seconds',
      auth: ctx.admin,
      params: ApiKeyPath,
      body: { schema: Rotation, example: { grace_seconds: 3600 } },
      responses: { 201: { description: 'The new key', body: NewApiKey, headers } },
      problems: [404, 409],
    },
    async ({ params, body, caller }) => {
      const made = await rotateApiKey(ctx, params.id, body.grace_seconds);
      ctx.log.info({ apiKey: made.id, replaces: params.id, by: caller.subject }, 'API key rotated');
      return { status: 201, headers: headersOf(made.id), body: made };
    },
  ),
  route(
    {
      method: 'delete',
      path: '/api-keys/{id}',
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke an API key; it stops working within a second',
      auth: ctx.admin,
      params: ApiKeyPath,
      responses: { 204: { description: 'The key is revoked' } },
      problems: [404],
    },
    async ({ params, caller }) => {
      await revokeApiKey(ctx, params.id);
      ctx.log.info({ apiKey: params.id, by: caller.subject }, 'API key revoked');
      return { status: 204 };
    },
  ),
];
