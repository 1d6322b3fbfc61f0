import { mailEnv } from '@platform/mail/address';
import { createReading } from '@platform/service-kit/reading';
import { Counter, Gauge } from '@prometheus-io/client';
import type { BaseContext } from '@platform/service-kit/context';
import type { Metrics } from '@platform/service-kit/metrics';
import type { Addresses } from '@platform/service-kit/outbound';
import type { ProblemCodes } from '@platform/service-kit/openapi';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Guard, Route } from '@platform/service-kit/route';
import type { Sql } from 'postgres';
import { z } from 'zod';
import type { OfferedList } from './changes.ts';
import type { Result } from './deliver.ts';
import { startDispatch } from './dispatch.ts';
import { startNotices } from './notices.ts';
import { subscriptionRoutes } from './routes.ts';
import { createSend } from './send.ts';
import { transferSubscriptions, type Rights } from './subscription.ts';
import type { Subscriber } from './use-cases.ts';

export { isFromSubscription } from './loop.ts';
export { deleteErasedAnswers, eraseAnswers } from './save-result.ts';

/** The settings of subscriptions. */
export const subscriptionEnv = {
  /** Secrets of subscriptions are derived from it. Comma-separated keys all sign; new secrets are derived from the first one. */
  SUBSCRIPTIONS_KEY: z
    .string()
    .transform((keys) => keys.split(',') as [string, ...string[]])
    .refine((keys) => keys.every((key) => key.length >= 32), 'must have 32 characters or more'),
  /** Whether subscribers may have private addresses, and addresses without TLS. Unset: only outside production. */
  SUBSCRIBER_ADDRESSES: z.enum(['public', 'any']).optional(),
  SUBSCRIBER_TIMEOUT_MS: z.coerce.number().int().min(100).max(30_000).default(10_000),
  ...mailEnv,
};

interface Env {
  NODE_ENV?: string | undefined;
  SUBSCRIPTIONS_KEY: [string, ...string[]];
  SUBSCRIBER_ADDRESSES?: Addresses | undefined;
  SUBSCRIBER_TIMEOUT_MS: number;
  SMTP_URL?: string | undefined;
  SMTP_FROM: string;
}

export interface SubscriptionOptions<Caller> {
  /** The part of the path after `/feeds`. */
  service: string;
  /** The scope is `{service}:subscriptions`. */
  auth: Guard<Caller>;
  /** Converts a caller to stored rights and back. `restore` returns undefined if the caller may no longer read. */
  rights: { save(caller: Caller): Rights; restore(saved: unknown): Promise<Caller | undefined> };
}

/** The problem codes of the routes. */
export const subscriptionCodes: ProblemCodes = {
  createSubscription: { 409: ['idempotency_key_used', 'too_many_subscriptions'] },
  replaySubscription: { 409: ['too_many_waiting'] },
};

const days = 30;
/** Delivered attempts are stored for a shorter time, because there are many. */
const deliveredDays = 3;

/** The rows that `withPruning` deletes. */
export const outdatedAttempts: readonly Prunable[] = [
  { table: 'subscription_attempts', outdated: `sent_at < now() - interval '${days} days'` },
  {
    table: 'subscription_attempts',
    outdated: `error is null and sent_at < now() - interval '${deliveredDays} days'`,
  },
  { table: 'subscription_notices', outdated: 'day < current_date' },
  { table: 'subscription_held', outdated: `failed_at < now() - interval '${days} days'` },
];

/** Exports the number of subscriptions that were disabled because of failures or deleted changes. */
const addDisabledMetric = (sql: Sql, { registry }: Metrics): void => {
  const read = createReading(registry, 'subscriptions', async () => {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from subscriptions
      where state = 'disabled' and state_reason in ('failures', 'expired')`;
    return count;
  });
  new Gauge({
    name: 'subscriptions_disabled',
    help: 'Subscriptions that were disabled after five days of failures, or because their missed changes were deleted',
    registers: [registry],
    async collect() {
      this.set((await read()) ?? Number.NaN);
    },
  });
};

/** Creates the subscriptions to the lists of a service, whose changes are sent to an address. Source: docs/feed.md (Having changes sent to you). */
export const createSubscriptions = <Caller extends Subscriber>(
  {
    database: { sql },
    log,
    metrics,
    outbound,
    resources,
  }: Pick<BaseContext, 'database' | 'log' | 'metrics' | 'outbound' | 'resources'>,
  env: Env,
  { service, auth, rights }: SubscriptionOptions<Caller>,
) => {
  const keys = env.SUBSCRIPTIONS_KEY;
  const addresses = env.SUBSCRIBER_ADDRESSES ?? (env.NODE_ENV === 'production' ? 'public' : 'any');
  const send = createSend({ outbound, addresses, timeoutMs: env.SUBSCRIBER_TIMEOUT_MS });
  const lists = new Map<string, OfferedList<Caller>>();
  const attempts = new Counter({
    name: 'subscription_attempts_total',
    help: 'Attempts to deliver a change to a subscriber, by result',
    labelNames: ['result'],
    registers: [metrics.registry],
  });
  addDisabledMetric(sql, metrics);
  let dispatch: ReturnType<typeof startDispatch<Caller>> | undefined;
  return {
    /** Lets callers subscribe to a list. Its readers and the subscribers must have the same type of caller. */
    offer: (list: OfferedList<Caller>): void => void lists.set(list.list, list),
    /** Gives the subscriptions of a subject to another one with the same rights. */
    transferSubscriptions,
    /** Returns the routes; call it after all lists were offered. */
    routes: (): Route[] =>
      subscriptionRoutes({
        sql,
        service,
        auth,
        lists: [...lists.values()],
        save: rights.save,
        keys,
        send,
        addresses,
        activated: () => dispatch?.hint(),
      }),
    /** Delivers until the context of the service is disposed of. */
    start: (): void => {
      const { SMTP_URL: url, SMTP_FROM: from } = env;
      const notices =
        url === undefined
          ? undefined
          : resources.use(startNotices({ sql, log, service, key: keys[0], url, from }));
      const onResult = ({ attempts: results, isGone }: Result) => {
        for (const { error } of results) attempts.inc({ result: error === null ? 'delivered' : 'failed' });
        if (isGone) notices?.hint();
      };
      dispatch = resources.use(
        startDispatch({ sql, log, send, keys, lists, restore: rights.restore, onResult }),
      );
    },
  };
};

/** Delivers to subscribers until the context of the service, which is returned, is disposed of. */
export const withSubscriptions = <Context extends { subscriptions: { start(): void } }>(
  context: Context,
): Context => {
  context.subscriptions.start();
  return context;
};
