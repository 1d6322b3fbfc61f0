import type { IncomingMessage } from 'node:http';
import { endOfLog } from '@platform/feed/log';
import { withSecretIdempotencyKey } from '@platform/service-kit/idempotency';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import type { Addresses } from '@platform/service-kit/outbound';
import { Conflict, InsufficientScope, Unavailable, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { currentRequest, waitUncounted } from '@platform/service-kit/request-scope';
import { noLookupLimit, type Guard } from '@platform/service-kit/route';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import type { z } from 'zod';
import { visibleTo, type OfferedList } from './changes.ts';
import { secretsOf, type Attempt } from './deliver.ts';
import { createQueries, listAttempts, maxSubscriptions, replay, type Viewer } from './queries.ts';
import type { AttemptQuery, Replay, Schemas } from './schema.ts';
import { secretOf } from './secret.ts';
import type { Send } from './send.ts';
import type { Rights } from './subscription.ts';

/** Lets an operator see and delete all subscriptions, because they outlive the access tokens that created them. */
export const adminScope = 'subscriptions:admin';

/** The caller; it has scopes if the credential is an access token. */
export interface Subscriber {
  subject: string;
  scopes?: ReadonlySet<string>;
}

export interface SubscriptionParts<Caller> {
  sql: Sql;
  /** The part of the path after `/feeds`. */
  service: string;
  auth: Guard<Caller>;
  lists: readonly OfferedList<Caller>[];
  /** Converts a caller to the rights that are stored. */
  save(caller: Caller): Rights;
  keys: readonly [string, ...string[]];
  send: Send;
  addresses: Addresses;
  /** Called when there may be another active subscription. */
  activated(): void;
}

/** Limits concurrent tests, because each holds a connection while it waits for the subscriber. */
const runInSlot = createFairSlots({
  max: 20,
  maxPerCaller: 2,
  code: 'too_many_tests',
  detail: 'Too many tests wait for their subscribers; try again shortly.',
});

/** The operations on subscriptions; `path` is that of the list. Each throws NotFound for a subscription of another subject. */
export const createUseCases = <Caller extends Subscriber>(
  { sql, lists, save, keys, send, addresses, activated }: SubscriptionParts<Caller>,
  { Subscription }: Schemas,
  path: string,
) => {
  const queries = createQueries(Object.keys(Subscription.shape));
  const [key] = keys;
  const findOwn = async (id: string, caller: Caller) => {
    orNotFound(await queries.find(sql, id, save(caller), false), 'subscription');
    return queries.findToDeliver(sql, id);
  };
  /** Throws ValidationFailed for an address without TLS where only public ones are allowed. */
  const requireSafe = ({ url }: { url?: string | undefined }): void => {
    if (addresses === 'public' && url?.startsWith('http:'))
      throw new ValidationFailed({ url: ['must start with https:'] });
  };
  /** Throws InsufficientScope unless the credential also gives access to these lists, because its rights are stored. */
  const requireReadable = async (
    requested: readonly string[],
    { subject }: Caller,
    req: IncomingMessage,
  ): Promise<void> => {
    for (const { list, auth } of lists)
      if (requested.includes(list) && auth.keyOf(await auth.identify(req, noLookupLimit)) !== subject)
        throw new InsufficientScope(`of ${list} in the same credential`);
  };
  return {
    queries,
    /** The subscriptions that a caller sees and may delete. */
    viewerOf: (caller: Caller): Viewer =>
      caller.scopes?.has(adminScope) === true ? { ...save(caller), subject: null } : save(caller),
    requireSafe,
    requireReadable,
    /** Throws Conflict if the caller has too many. */
    create: async (
      caller: Caller,
      input: z.output<Schemas['Input']>,
      { req, key: idempotencyKey }: { req: IncomingMessage; key: string | undefined },
    ) => {
      requireSafe(input);
      await requireReadable(input.lists, caller, req);
      const { subject } = caller;
      const id = v7();
      // Gives earlier changes their positions first, so that they are not sent.
      await endOfLog(sql);
      const created = await withSecretIdempotencyKey(
        sql,
        { owner: subject, key: idempotencyKey, request: { path, input } },
        async (tx) => {
          const json = await queries.insert(tx, { id, rights: save(caller) }, input);
          if (json === undefined)
            throw new Conflict('too_many_subscriptions', `The limit is ${maxSubscriptions}; delete one.`);
          const secret = secretOf(key, { id, generation: 1 });
          return { ...(JSON.parse(json) as z.input<typeof Subscription>), secret };
        },
        (subscription) => `/v1${path}/${subscription.id}`,
      );
      activated();
      return created;
    },
    /** Returns the new secret, and the same one for a day, so that a repeated request after a lost response keeps the old one valid. */
    rotate: async (id: string, caller: Caller, req: IncomingMessage): Promise<string> => {
      const { lists: followed } = await findOwn(id, caller);
      await requireReadable(followed, caller, req);
      return secretOf(key, { id, generation: await queries.rotate(sql, id) });
    },
    /** Sends an event of the type `subscription.test`, and returns the attempt. */
    test: async (id: string, caller: Caller): Promise<Attempt> => {
      const subscription = await findOwn(id, caller);
      const event = `evt_${v7()}`;
      const type = 'subscription.test';
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data: { id } });
      const { url, subject } = subscription;
      const message = { subject, url, event, body, secrets: secretsOf(keys, subscription) };
      const scope = currentRequest();
      const turn = { isOver: () => scope?.cancelled !== undefined, aborted: new AbortController().signal };
      const sent = await runInSlot(caller.subject, () => waitUncounted(() => send(message, turn)));
      if (sent === undefined) throw new Unavailable('not_sent', 'The test was not sent in time; try again.');
      const { retryAfterMs: _, ...fields } = sent;
      const attempt = { ...fields, event, type, record: null, version: null, attempt: 1 };
      await queries.recordAttempt(sql, id, attempt);
      return attempt;
    },
    replay: async (id: string, caller: Caller, req: IncomingMessage, input: z.output<typeof Replay>) => {
      const subscription = await findOwn(id, caller);
      await requireReadable(subscription.lists, caller, req);
      const followed = lists.filter(({ list }) => subscription.lists.includes(list));
      // One at a time for each caller, because it may search many changes.
      return oneAtATime(sql, { name: 'replay of changes', params: {}, caller: caller.subject }, () =>
        sql.begin((tx) => replay(tx, subscription, input, visibleTo(tx, subscription, followed, caller))),
      );
    },
    /** The attempts as JSON: up to `limit` + 1. */
    attempts: async (id: string, caller: Caller, query: z.output<typeof AttemptQuery>): Promise<string[]> => {
      await findOwn(id, caller);
      return listAttempts(sql, id, query);
    },
  };
};
