import type { IncomingMessage } from 'node:http';
import type { FollowedList } from '@platform/feed';
import { endOfLog } from '@platform/feed/log';
import {
  idempotencyKeyOf,
  onceWithSecret,
  secretIdempotencyKeyHeader,
} from '@platform/service-kit/idempotency';
import type { Addresses } from '@platform/service-kit/outbound';
import { Conflict, ValidationFailed } from '@platform/service-kit/problem';
import { record } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import { withoutDeadline } from '@platform/service-kit/request-scope';
import { noLookupLimit, route, type Guard, type Route } from '@platform/service-kit/route';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import type { z } from 'zod';
import { visibleTo } from './changes.ts';
import { secretsOf } from './deliver.ts';
import { createQueries, listAttempts, most, replay } from './queries.ts';
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
import type { Send } from './send.ts';
import { secretOf } from './signing.ts';

export interface SubscriptionRoutes<Caller> {
  sql: Sql;
  /** The part of the path after `/feeds`. */
  service: string;
  auth: Guard<Caller>;
  lists: readonly FollowedList<Caller>[];
  /** What `restore` needs of a caller. */
  save(caller: Caller): unknown;
  keys: readonly [string, ...string[]];
  send: Send;
  addresses: Addresses;
  /** Called when there may be one more that is active. */
  activated(): void;
}

const tag = 'Subscriptions';
const computed = ['state', 'stateReason', 'failingSince', 'waiting', 'failed'];
const noStore = { 'Cache-Control': 'no-store' };

/** The routes of subscriptions: whoever makes one sees it, and nobody else. Source: docs/feed.md (Subscriptions). */
export const subscriptionRoutes = <Caller extends { subject: string }>(
  options: SubscriptionRoutes<Caller>,
): Route[] => {
  const { sql, service, auth, lists, save, keys, send, addresses, activated } = options;
  const path = `/feeds/${service}/subscriptions`;
  const { Input, Subscription, Patch, Created } = schemasOf(lists.map(({ list }) => list));
  const queries = createQueries(Object.keys(Subscription.shape));
  const [key] = keys;

  const requireSafe = ({ url }: { url?: string | undefined }): void => {
    if (addresses === 'public' && url?.startsWith('http:'))
      throw new ValidationFailed({ url: ['must begin with https:'] });
  };
  /** Throws InsufficientScope unless the caller reads these lists. */
  const requireReadable = async (asked: readonly string[], req: IncomingMessage): Promise<void> => {
    for (const { list, auth: reader } of lists)
      if (asked.includes(list)) await reader.identify(req, noLookupLimit);
  };
  /** Throws NotFound unless it is the caller's. */
  const ownOf = async (id: string, { subject }: Caller) => {
    orNotFound(await queries.find(sql, id, subject, false), 'subscription');
    return queries.claimed(sql, id);
  };
  const create = async (
    caller: Caller,
    input: z.output<typeof Input>,
    idempotencyKey: string | undefined,
  ) => {
    const { subject } = caller;
    const id = v7();
    await endOfLog(sql);
    const made = { owner: subject, key: idempotencyKey, request: { path, input } };
    return onceWithSecret(
      sql,
      made,
      async (tx) => {
        const json = await queries.insert(tx, { id, subject, rights: save(caller) }, input);
        if (json === undefined)
          throw new Conflict('too_many_subscriptions', `You have ${most} subscriptions; delete one first.`);
        const secret = secretOf(key, { id, generation: 1 });
        return { ...(JSON.parse(json) as z.input<typeof Subscription>), secret };
      },
      (created) => `/v1${path}/${created.id}`,
    );
  };

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
        body: Subscription.array().meta({ id: 'SubscriptionList' }),
        page: async (_query, { caller }) => `[${(await queries.list(sql, caller.subject)).join(',')}]`,
      },
      find: (on, { params, caller }, lock) => queries.find(on, params.id, caller.subject, lock),
      change: {
        patch: Patch,
        example: { state: 'paused' },
        save: (tx, patch, { params }) => {
          requireSafe(patch);
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
          'Each change from now on is sent to the address by POST, at least once, signed as the Standard Webhooks specification says. Only this response contains the secret.',
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
        requireSafe(body);
        await requireReadable(body.lists, req);
        const created = await create(caller, body, idempotencyKeyOf(req));
        activated();
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
        description: 'For a day, both secrets sign.',
        auth,
        params: SubscriptionPath,
        responses: { 200: { description: 'The new secret', body: Rotated } },
        problems: [404],
      },
      async ({ params: { id }, caller }) => {
        await ownOf(id, caller);
        const generation = await queries.rotate(sql, id);
        return { status: 200, headers: noStore, body: { secret: secretOf(key, { id, generation }) } };
      },
    ),
    route(
      {
        method: 'post',
        path: `${path}/{id}/test`,
        operationId: 'testSubscription',
        tag,
        summary: 'Send a test to a subscription',
        description: 'One event of the type `subscription.test`, once. The answer says what came of it.',
        auth,
        params: SubscriptionPath,
        responses: { 200: { description: 'The attempt', body: Attempt.omit({ id: true }) } },
        problems: [404],
      },
      async ({ params: { id }, caller, req }) => {
        const subscription = await ownOf(id, caller);
        withoutDeadline(req);
        const event = `evt_${v7()}`;
        const type = 'subscription.test';
        const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data: { id } });
        const message = { url: subscription.url, event, body, secrets: secretsOf(keys, subscription) };
        const sent = await send(message, { isOver: () => false, aborted: new AbortController().signal });
        if (sent === undefined) throw new Error('a test was not sent');
        const { retryAfterMs: _, ...what } = sent;
        await queries.recordAttempt(sql, id, { ...what, event, type, record: undefined, attempt: 1 });
        const { sentAt, status = null, error = null, answer = null, ms } = sent;
        const attempt = { event, type, record: null, attempt: 1, ms, status, error, answer };
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
        responses: { 200: { description: 'What is sent again', body: Replayed } },
        problems: [404],
      },
      async ({ params: { id }, caller, body }) => {
        const subscription = await ownOf(id, caller);
        const asked = lists.filter(({ list }) => subscription.lists.includes(list));
        const answer = await sql.begin((tx) =>
          replay(tx, subscription, body, visibleTo(tx, subscription, asked, caller)),
        );
        return { status: 200, body: answer };
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/{id}/attempts`,
        operationId: 'listDeliveryAttempts',
        tag,
        summary: 'Attempts of 30 days, newest first',
        auth,
        params: SubscriptionPath,
        query: AttemptQuery,
        responses: { 200: { description: 'The attempts', body: AttemptList } },
        problems: [404],
      },
      async ({ params: { id }, caller, query }) => {
        await ownOf(id, caller);
        const found = await listAttempts(sql, id, query);
        const page = found.slice(0, query.limit).join(',');
        return { status: 200, rawBody: `{"attempts":[${page}],"has_more":${found.length > query.limit}}` };
      },
    ),
  ];
};
