import type { Caller } from '@platform/auth/bearer';
import { expectedVersions } from '@platform/service-kit/etag';
import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import { documentedHeaders } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';
import { apiKeyRecord } from './record.ts';
import { ApiKeyInput, ApiKeyPath, NewApiKey, Rotation } from './schema.ts';
import { createApiKey, revokeApiKey, rotateApiKey } from './use-cases.ts';

const tag = 'API keys';

/** A response with a secret must not be cached. */
const headersOf = (id: string) => ({ Location: `/v1/api-keys/${id}`, 'Cache-Control': 'no-store' });
const created = {
  description: 'The new key',
  body: NewApiKey,
  headers: { Location: 'Address of the key' },
};

const creationOf = ({ caller, req }: { caller: Caller; req: IncomingMessage }) => ({
  caller,
  key: idempotencyKeyOf(req),
});

export const apiKeyRoutes = (ctx: Context): Route[] => [
  ...apiKeyRecord(ctx),
  route(
    {
      method: 'post',
      path: '/api-keys',
      operationId: 'createApiKey',
      tag,
      summary: 'Create an API key',
      description: 'Only this response contains the key.',
      auth: ctx.admin,
      headers: secretIdempotencyKeyHeader,
      body: { schema: ApiKeyInput, example: { name: 'my client', scopes: ['verify:read'] } },
      responses: { 201: created },
      problems: [409, 422],
    },
    async ({ body, ...request }) => {
      const apiKey = await createApiKey(ctx, creationOf(request), body);
      ctx.log.info({ apiKey: apiKey.id, by: request.caller.subject }, 'API key created');
      return { status: 201, headers: headersOf(apiKey.id), body: apiKey };
    },
  ),
  route(
    {
      method: 'post',
      path: '/api-keys/{id}/rotate',
      operationId: 'rotateApiKey',
      tag,
      summary: 'Replace an API key',
      description: 'The old key works for another grace_seconds.',
      auth: ctx.admin,
      params: ApiKeyPath,
      headers: secretIdempotencyKeyHeader,
      body: { schema: Rotation, example: { grace_seconds: 3600 } },
      responses: { 201: created },
      problems: [404, 409, 422],
    },
    async ({ params: { id }, body, ...request }) => {
      const apiKey = await rotateApiKey(ctx, creationOf(request), id, body.grace_seconds);
      ctx.log.info({ apiKey: apiKey.id, replaces: id, by: request.caller.subject }, 'API key rotated');
      return { status: 201, headers: headersOf(apiKey.id), body: apiKey };
    },
  ),
  route(
    {
      method: 'delete',
      path: '/api-keys/{id}',
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke an API key',
      description: 'It stops working within a second.',
      auth: ctx.admin,
      params: ApiKeyPath,
      headers: documentedHeaders('API key').ifMatch('delete'),
      responses: { 204: { description: 'The key is revoked' } },
      problems: [404, 412],
    },
    async ({ params: { id }, caller, req }) => {
      await revokeApiKey(ctx, id, { caller, expected: expectedVersions(req) });
      ctx.log.info({ apiKey: id, by: caller.subject }, 'API key revoked');
      return { status: 204 };
    },
  ),
];
