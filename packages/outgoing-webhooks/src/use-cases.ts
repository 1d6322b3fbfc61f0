import type { IncomingMessage } from 'node:http';
import { endOfLog } from '@platform/feed/log';
import { withSecretIdempotencyKey } from '@platform/service-kit/idempotency';
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
import { createQueries, listAttempts, most, replay, type Seen } from './queries.ts';
import type { AttemptQuery, Replay, Schemas } from './schema.ts';
import { secretOf, type Send } from './send.ts';
import type { Rights } from './subscription.ts';

/** With it an operator sees and deletes the subscriptions of all: they outlive the access tokens that they were made with. */
export const adminScope = 'subscriptions:admin';

/** Who subscribes: with scopes where the credential is an access token. */
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
  /** What `restore` needs of a caller. */
  save(caller: Caller): Rights;
  keys: readonly [string, ...string[]];
  send: Send;
  addresses: Addresses;
  /** Called when there may be one more that is active. */
  activated(): void;
}

/** Tests wait for a subscriber, and hold a connection meanwhile. */
const withPlace = createFairSlots({
  max: 20,
  maxPerCaller: 2,
  code: 'too_many_tests',
  detail: 'Too many tests wait for their subscribers; try again shortly.',
});

/** What callers do with their subscriptions; `path` is that of the list. Each throws NotFound for somebody else's. */
export const createUseCases = <Caller extends Subscriber>(
  { sql, lists, save, keys, send, addresses, activated }: SubscriptionParts<Caller>,
  { Subscription }: Schemas,
  path: string,
) => {
  const queries = createQueries(Object.keys(Subscription.shape));
  const [key] = keys;
  const ownOf = async (id: string, caller: Caller) => {
    orNotFound(await queries.find(sql, id, save(caller), false), 'subscription');
    return queries.findToDeliver(sql, id);
  };
  /** Throws ValidationFailed for an address without TLS where only public ones are allowed. */
  const requireSafe = ({ url }: { url?: string | undefined }): void => {
    if (addresses === 'public' && url?.startsWith('http:'))
      throw new ValidationFailed({ url: ['must begin with https:'] });
  };
  /** Throws InsufficientScope unless the caller reads these lists with the same credential: its rights are kept. */
  const requireReadable = async (
    asked: readonly string[],
    { subject }: Caller,
    req: IncomingMessage,
  ): Promise<void> => {
    for (const { list, auth } of lists)
      if (asked.includes(list) && auth.keyOf(await auth.identify(req, noLookupLimit)) !== subject)
        throw new InsufficientScope(`of ${list} in the same credential`);
  };
  return {
    queries,
    /** What a caller sees and may delete. */
    seenBy: (caller: Caller): Seen =>
      caller.scopes?.has(adminScope) === true ? { ...save(caller), subject: null } : save(caller),
    requireSafe,
    requireReadable,
    /** Throws Conflict where the caller has too many. */
    create: async (
      caller: Caller,
      input: z.output<Schemas['Input']>,
      { req, key: idempotencyKey }: { req: IncomingMessage; key: string | undefined },
    ) => {
      requireSafe(input);
      await requireReadable(input.lists, caller, req);
      const { subject } = caller;
      const id = v7();
      // Earlier changes get their positions first, so that they are not sent.
      await endOfLog(sql);
      const created = await withSecretIdempotencyKey(
        sql,
        { owner: subject, key: idempotencyKey, request: { path, input } },
        async (tx) => {
          const json = await queries.insert(tx, { id, rights: save(caller) }, input);
          if (json === undefined)
            throw new Conflict('too_many_subscriptions', `You have ${most} subscriptions; delete one first.`);
          const secret = secretOf(key, { id, generation: 1 });
          return { ...(JSON.parse(json) as z.input<typeof Subscription>), secret };
        },
        (made) => `/v1${path}/${made.id}`,
      );
      activated();
      return created;
    },
    /** Returns the new secret; for a day the same again, so that who lost an answer does not lose the old one. */
    rotate: async (id: string, caller: Caller, req: IncomingMessage): Promise<string> => {
      const { lists: own } = await ownOf(id, caller);
      await requireReadable(own, caller, req);
      return secretOf(key, { id, generation: await queries.rotate(sql, id) });
    },
    /** Sends an event of the type `subscription.test`, and returns what came of it. */
    test: async (id: string, caller: Caller): Promise<Attempt> => {
      const subscription = await ownOf(id, caller);
      const event = `evt_${v7()}`;
      const type = 'subscription.test';
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data: { id } });
      const { url, subject } = subscription;
      const message = { subject, url, event, body, secrets: secretsOf(keys, subscription) };
      const scope = currentRequest();
      const turn = { isOver: () => scope?.cancelled !== undefined, aborted: new AbortController().signal };
      const sent = await withPlace(caller.subject, () => waitUncounted(() => send(message, turn)));
      if (sent === undefined) throw new Unavailable('not_sent', 'The test was not sent in time; try again.');
      const { retryAfterMs: _, ...what } = sent;
      const attempt = { ...what, event, type, record: null, version: null, attempt: 1 };
      await queries.recordAttempt(sql, id, attempt);
      return attempt;
    },
    replay: async (id: string, caller: Caller, req: IncomingMessage, asked: z.output<typeof Replay>) => {
      const subscription = await ownOf(id, caller);
      await requireReadable(subscription.lists, caller, req);
      const wanted = lists.filter(({ list }) => subscription.lists.includes(list));
      return sql.begin((tx) => replay(tx, subscription, asked, visibleTo(tx, subscription, wanted, caller)));
    },
    /** The attempts as JSON, one more than asked for. */
    attempts: async (id: string, caller: Caller, query: z.output<typeof AttemptQuery>): Promise<string[]> => {
      await ownOf(id, caller);
      return listAttempts(sql, id, query);
    },
  };
};
