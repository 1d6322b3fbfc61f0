import type { Caller } from '@platform/auth/bearer';
import { expectedVersions } from '@platform/service-kit/etag';
import { idempotencyKeyOf } from '@platform/service-kit/idempotency';
import { idParams, record } from '@platform/service-kit/record';
import { documentedHeaders } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';
import { ApiKey, ApiKeyInput, ApiKeyList, ApiKeyQuery, NewApiKey, Rotation } from './schema.ts';
import { apiKeysOf, computedFields, createApiKey, revokeApiKey, rotateApiKey } from './use-cases.ts';

const [name, tag] = ['API key', 'API keys'];
const params = idParams('0198c5a0-7e57-7100-8000-000000000001');

/** A response with a secret must not be cached. */
const headersOf = (id: string) => ({ Location: `/v1/api-keys/${id}`, 'Cache-Control': 'no-store' });
const created = {
  description: 'The new key',
  body: NewApiKey,
  headers: { Location: 'Address of the key' },
};

const secretKeyHeader = {
  'Idempotency-Key':
    'Up to 128 characters. For 24 hours, a repeat creates nothing and gets 409 `idempotency_key_used`, which names the key that was created, or with another body 422.',
};

const creationOf = ({ caller, req }: { caller: Caller; req: IncomingMessage }) => ({
  caller,
  key: idempotencyKeyOf(req),
});

export const apiKeyRoutes = (ctx: Context): Route[] => {
  const { page, find } = apiKeysOf(ctx);
  return [
    ...record({
      path: '/api-keys',
      basePath: '/v1',
      params,
      tag,
      name,
      schema: ApiKey,
      computed: computedFields,
      read: ctx.admin,
      write: ctx.admin,
      sql: ctx.database.sql,
      list: {
        summary: 'API keys, oldest first, without their secrets',
        description: 'A key is erased 90 days after it was revoked or has expired.',
        query: ApiKeyQuery,
        body: ApiKeyList,
        page,
      },
      find,
    }),
    route(
      {
        method: 'post',
        path: '/api-keys',
        operationId: 'createApiKey',
        tag,
        summary: 'Create an API key; only this response contains it',
        auth: ctx.admin,
        headers: secretKeyHeader,
        body: { schema: ApiKeyInput, example: { name: 'my client', scopes: ['verify:read'] } },
        responses: { 201: created },
        problems: [409, 422],
      },
      async ({ body, ...request }) => {
        const made = await createApiKey(ctx, creationOf(request), body);
        ctx.log.info({ apiKey: made.id, by: request.caller.subject }, 'API key made');
        return { status: 201, headers: headersOf(made.id), body: made };
      },
    ),
    route(
      {
        method: 'post',
        path: '/api-keys/{id}/rotate',
        operationId: 'rotateApiKey',
        tag,
        summary: 'Create a key that replaces another; the old key works for another grace_seconds',
        auth: ctx.admin,
        params,
        headers: secretKeyHeader,
        body: { schema: Rotation, example: { grace_seconds: 3600 } },
        responses: { 201: created },
        problems: [404, 409, 422],
      },
      async ({ params: { id }, body, ...request }) => {
        const made = await rotateApiKey(ctx, creationOf(request), id, body.grace_seconds);
        ctx.log.info({ apiKey: made.id, replaces: id, by: request.caller.subject }, 'API key rotated');
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
        params,
        headers: documentedHeaders(name).ifMatch('delete'),
        responses: { 204: { description: 'The key is revoked' } },
        problems: [404, 412],
      },
      async ({ params: { id }, caller, req }) => {
        await revokeApiKey(ctx, id, expectedVersions(req));
        ctx.log.info({ apiKey: id, by: caller.subject }, 'API key revoked');
        return { status: 204 };
      },
    ),
  ];
};
