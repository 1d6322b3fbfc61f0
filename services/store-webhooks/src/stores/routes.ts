import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { expectedVersions, isNotModified } from '@platform/service-kit/etag';
import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import {
  documentedHeaders,
  mergePatchTypes,
  noStore,
  versionHeaders,
} from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { allow, requireEveryStore } from '../access.ts';
import type { Context } from '../context.ts';
import {
  ChangedStoreView,
  NewStoreView,
  RotateBody,
  RotatedView,
  StoreBody,
  StorePatch,
  StoreView,
} from './schema.ts';
import { deleteStore, restoreStore } from './deletion.ts';
import { rotateToken } from './rotate-token.ts';
import { changeStore, createStore, getStore, listStores } from './use-cases.ts';

/** The parameters of a path with the id of a store. */
export const StorePath = z.strictObject({
  // In lower case, as the database returns it, because the encrypted values of a store are bound to its id.
  storeId: z
    .uuid()
    .toLowerCase()
    .meta({ description: 'The store', example: '01980000-0000-7000-8000-00000000d340' }),
});

export const storeRoutes = (context: Context): Route[] => {
  const shared = { tag: 'Stores', auth: allow(context, 'stores:admin') } as const;
  const { etag, ifNoneMatch, ifMatch } = documentedHeaders('store');
  return [
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores',
        operationId: 'createStore',
        summary: 'Register a store',
        description: 'The response shows its webhook tokens; they cannot be read again.',
        headers: secretIdempotencyKeyHeader,
        body: {
          schema: StoreBody,
          example: {
            name: 'Corner shop',
            storeUrl: 'https://corner.example.test/',
            pos: { kind: 'generic' },
          },
        },
        responses: {
          201: {
            description: 'The store',
            body: NewStoreView,
            headers: { ...etag, Location: 'Its address' },
          },
        },
        problems: [409, 422],
      },
      async ({ body, caller, req }) => {
        requireEveryStore(caller);
        const keyed = { owner: caller.subject, key: idempotencyKeyOf(req), request: ['/v1/stores', body] };
        const { store, version } = await createStore(context, body, { request: keyed });
        const headers = { ...versionHeaders(version), ...noStore, Location: `/v1/stores/${store.id}` };
        return { status: 201, headers, body: store };
      },
    ),
    route(
      {
        ...shared,
        auth: allow(context, 'stores:read'),
        method: 'get',
        path: '/v1/stores',
        operationId: 'listStores',
        summary: 'The stores, newest first',
        query: z.strictObject(pageLimitQuery),
        responses: { 200: { description: 'A page', body: pageLimitBody('stores', StoreView) } },
      },
      async ({ query, caller }) => ({ status: 200, body: await listStores(context, query, caller.stores) }),
    ),
    route(
      {
        ...shared,
        auth: allow(context, 'stores:read'),
        method: 'get',
        path: '/v1/stores/{storeId}',
        operationId: 'getStore',
        summary: 'A store, without its credentials',
        params: StorePath,
        headers: ifNoneMatch,
        responses: {
          200: { description: 'The store', body: StoreView, headers: etag },
          304: { description: 'You have this version', headers: etag },
        },
        problems: [404],
      },
      async ({ params, req }) => {
        const { view, version } = await getStore(context, params.storeId);
        const headers = versionHeaders(version);
        return isNotModified(req, version) ? { status: 304, headers } : { status: 200, headers, body: view };
      },
    ),
    route(
      {
        ...shared,
        method: 'patch',
        path: '/v1/stores/{storeId}',
        operationId: 'changeStore',
        summary: 'Change a store',
        description:
          'A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field, lists are replaced as a whole. A provider of another kind replaces the stored one as a whole. The credentials of a provider whose kind or address changed are removed, unless they are sent too. A patch that changes nothing writes nothing.',
        params: StorePath,
        headers: ifMatch('change'),
        body: { schema: StorePatch, example: { customerImportsEnabled: true }, types: mergePatchTypes },
        responses: { 200: { description: 'The store', body: ChangedStoreView, headers: etag } },
        problems: [404, 409, 412],
      },
      async ({ params, body: patch, caller, req }) => {
        const change = { patch, expected: expectedVersions(req), changedBy: caller.subject };
        const { store, version } = await changeStore(context, params.storeId, change);
        return { status: 200, headers: versionHeaders(version), body: store };
      },
    ),
    route(
      {
        ...shared,
        method: 'delete',
        path: '/v1/stores/{storeId}',
        operationId: 'deleteStore',
        summary: 'Delete a store',
        description:
          'Its webhook tokens are rejected at once. The store is shown with `deletedAt`, and can be restored, until its data is erased after STORE_ERASE_DAYS.',
        params: StorePath,
        headers: ifMatch('delete'),
        responses: { 204: { description: 'The store is deleted' } },
        problems: [404, 412],
      },
      async ({ params, caller, req }) => {
        await deleteStore(context, params.storeId, {
          expected: expectedVersions(req),
          changedBy: caller.subject,
        });
        return { status: 204 };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/restore',
        operationId: 'restoreStore',
        summary: 'Restore a deleted store',
        description: 'Its webhook tokens work again.',
        params: StorePath,
        responses: { 200: { description: 'The store', body: StoreView, headers: etag } },
        problems: [404, 409],
      },
      async ({ params, caller }) => {
        const options = { expected: undefined, changedBy: caller.subject };
        const { view, version } = await restoreStore(context, params.storeId, options);
        return { status: 200, headers: versionHeaders(version), body: view };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/webhook-token/rotate',
        operationId: 'rotateWebhookToken',
        summary: 'Replace a webhook token',
        description: 'Replaces one of the two tokens. The old one still works for graceSeconds.',
        params: StorePath,
        headers: secretIdempotencyKeyHeader,
        body: { schema: RotateBody },
        responses: { 200: { description: 'The new token, which is shown only once', body: RotatedView } },
        problems: [404, 409, 422],
      },
      async ({ params, body, caller, req }) => {
        const id = params.storeId;
        const keyed = { owner: caller.subject, key: idempotencyKeyOf(req), request: [id, 'rotate', body] };
        return { status: 200, headers: noStore, body: await rotateToken(context, id, body, keyed) };
      },
    ),
  ];
};
