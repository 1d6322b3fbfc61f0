import { pageLimitBody, pageLimitQuery, pageList, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import {
  ChangedStoreView,
  NewStoreView,
  RotateBody,
  RotatedView,
  StoreBody,
  StoreChange,
  StoreView,
} from './schema.ts';
import { changeStore, createStore, getStore, pageOfStores, rotateToken } from './use-cases.ts';

/** The answer contains a token, so no cache may keep it. */
const noStore = { 'Cache-Control': 'no-store' };

export const storeId = z.strictObject({
  id: z.uuid().meta({ description: 'The store', example: '01980000-0000-7000-8000-00000000d340' }),
});

export const storeRoutes = (context: Context): Route[] => {
  const shared = { tag: 'Stores', auth: context.verifier.guard('stores:admin') } as const;
  return [
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores',
        operationId: 'createStore',
        summary: 'Register a store; its webhook tokens are shown this once',
        body: { schema: StoreBody },
        responses: {
          201: { description: 'The store', body: NewStoreView, headers: { Location: 'Its address' } },
        },
      },
      async ({ body }) => {
        const store = await createStore(context, body);
        return { status: 201, headers: { Location: `/v1/stores/${store.id}`, ...noStore }, body: store };
      },
    ),
    route(
      {
        ...shared,
        method: 'get',
        path: '/v1/stores',
        operationId: 'listStores',
        summary: 'The stores, newest first',
        query: z.strictObject(pageLimitQuery),
        responses: { 200: { description: 'A page', body: pageLimitBody('stores', StoreView) } },
      },
      async ({ query }) => {
        const page = pageOf(query);
        return { status: 200, body: pageList('stores', page, await pageOfStores(context, page)) };
      },
    ),
    route(
      {
        ...shared,
        method: 'get',
        path: '/v1/stores/{id}',
        operationId: 'getStore',
        summary: 'A store, without its credentials',
        params: storeId,
        responses: { 200: { description: 'The store', body: StoreView } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getStore(context, params.id) }),
    ),
    route(
      {
        ...shared,
        method: 'patch',
        path: '/v1/stores/{id}',
        operationId: 'changeStore',
        summary:
          'Change a store; fields that are not sent stay, except credentials of a provider whose kind or address changed',
        params: storeId,
        body: { schema: StoreChange },
        responses: { 200: { description: 'The store', body: ChangedStoreView } },
        problems: [404],
      },
      async ({ params, body, caller }) => ({
        status: 200,
        body: await changeStore(context, params.id, body, caller.subject),
      }),
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{id}/webhook-token/rotate',
        operationId: 'rotateWebhookToken',
        summary: 'Replace one of the two webhook tokens; the old one still works for graceSeconds',
        params: storeId,
        body: { schema: RotateBody },
        responses: { 200: { description: 'The new token, shown this once', body: RotatedView } },
        problems: [404],
      },
      async ({ params, body }) => ({
        status: 200,
        headers: noStore,
        body: await rotateToken(context, params.id, body),
      }),
    ),
  ];
};
