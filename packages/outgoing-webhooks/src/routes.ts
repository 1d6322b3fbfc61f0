import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import { record } from '@platform/service-kit/record';
import { route, type Route } from '@platform/service-kit/route';
import {
  Attempt,
  AttemptList,
  AttemptQuery,
  Replay,
  Replayed,
  Rotated,
  schemasOf,
  SubscriptionPath,
} from './schema.ts';
import { adminScope, createUseCases, type Subscriber, type SubscriptionParts } from './use-cases.ts';

const tag = 'Subscriptions';
const computed = ['state', 'stateReason', 'failingSince', 'lastDeliveredAt', 'waiting', 'failed'];
const noStore = { 'Cache-Control': 'no-store' };

/** The routes of subscriptions. A caller sees its own, an operator sees all. Source: docs/feed.md (Having changes sent to you). */
export const subscriptionRoutes = <Caller extends Subscriber>(parts: SubscriptionParts<Caller>): Route[] => {
  const { sql, service, auth, lists, save, activated } = parts;
  const path = `/feeds/${service}/subscriptions`;
  const schemas = schemasOf(lists.map(({ list }) => list));
  const { Input, Subscription, Patch, Created } = schemas;
  const useCases = createUseCases(parts, schemas, path);
  const { queries, viewerOf } = useCases;

  return [
    ...record({
      path,
      basePath: '/v1',
      params: SubscriptionPath,
      tag,
      name: 'subscription',
      schema: Subscription,
      computed,
      read: auth,
      write: auth,
      sql,
      list: {
        summary: 'Your subscriptions, newest first',
        description: `With the scope \`${adminScope}\` the list has the subscriptions of all subjects, which may then be deleted too.`,
        body: Subscription.array().meta({ id: 'SubscriptionList' }),
        page: async (_query, { caller }) => `[${(await queries.list(sql, viewerOf(caller))).join(',')}]`,
      },
      // Only its creator may change a subscription, because it reads with the rights of the creator.
      find: (on, { params, caller, req }, lock) =>
        queries.find(on, params.id, req.method === 'PATCH' ? save(caller) : viewerOf(caller), lock),
      change: {
        patch: Patch,
        example: { state: 'paused' },
        save: async (tx, patch, { params, caller, req }, current) => {
          useCases.requireSafe(patch);
          const { lists: followedLists } = JSON.parse(current) as { lists: string[] };
          await useCases.requireReadable(followedLists, caller, req);
          return queries.update(tx, params.id, patch);
        },
      },
      committed: async () => activated(),
      remove: { delete: (tx, { params }) => queries.remove(tx, params.id) },
    }),
    route(
      {
        method: 'post',
        path,
        operationId: 'createSubscription',
        tag,
        summary: 'Have changes sent to you',
        description:
          'Each change from now on is sent to the address by POST, at least once, with a signature as in Standard Webhooks. Only this response contains the secret.',
        auth,
        headers: secretIdempotencyKeyHeader,
        body: {
          schema: Input,
          example: { url: 'https://shop.example.test/changes', lists: [lists[0]?.list ?? ''] },
        },
        responses: {
          201: {
            description: 'The new subscription',
            body: Created,
            headers: { Location: 'Address of the subscription' },
          },
        },
        problems: [409, 422],
      },
      async ({ caller, body, req }) => {
        const created = await useCases.create(caller, body, { req, key: idempotencyKeyOf(req) });
        return { status: 201, headers: { ...noStore, Location: `/v1${path}/${created.id}` }, body: created };
      },
    ),
    route(
      {
        method: 'post',
        path: `${path}/{id}/rotate`,
        operationId: 'rotateSubscription',
        tag,
        summary: 'Replace the secret of a subscription',
        description: 'For one day both secrets sign, and another rotation returns the same new secret.',
        auth,
        params: SubscriptionPath,
        responses: { 200: { description: 'The new secret', body: Rotated } },
        problems: [404],
      },
      async ({ params: { id }, caller, req }) => ({
        status: 200,
        headers: noStore,
        body: { secret: await useCases.rotate(id, caller, req) },
      }),
    ),
    route(
      {
        method: 'post',
        path: `${path}/{id}/test`,
        operationId: 'testSubscription',
        tag,
        summary: 'Send a test to a subscription',
        description: 'Sends one event `subscription.test`, without retries. The response is the result.',
        auth,
        params: SubscriptionPath,
        responses: { 200: { description: 'The attempt', body: Attempt.omit({ id: true }) } },
        problems: [404],
      },
      async ({ params: { id }, caller }) => {
        const { sentAt, ...attempt } = await useCases.test(id, caller);
        return { status: 200, body: { ...attempt, sentAt: sentAt.toISOString() } };
      },
    ),
    route(
      {
        method: 'post',
        path: `${path}/{id}/replay`,
        operationId: 'replaySubscription',
        tag,
        summary: 'Send changes again',
        auth,
        params: SubscriptionPath,
        body: { schema: Replay, example: { failed: true } },
        responses: { 200: { description: 'The number of changes', body: Replayed } },
        problems: [404, 409],
      },
      async ({ params: { id }, caller, body, req }) => ({
        status: 200,
        body: await useCases.replay(id, caller, req, body),
      }),
    ),
    route(
      {
        method: 'get',
        path: `${path}/{id}/attempts`,
        operationId: 'listDeliveryAttempts',
        tag,
        summary: 'The last 1,000 attempts, newest first',
        auth,
        params: SubscriptionPath,
        query: AttemptQuery,
        responses: { 200: { description: 'The attempts', body: AttemptList } },
        problems: [404],
      },
      async ({ params: { id }, caller, query }) => {
        const rows = await useCases.attempts(id, caller, query);
        const page = rows.slice(0, query.limit).join(',');
        return { status: 200, rawBody: `{"attempts":[${page}],"has_more":${rows.length > query.limit}}` };
      },
    ),
  ].map((definition) => ({ ...definition, basePath: '/v1' }));
};
