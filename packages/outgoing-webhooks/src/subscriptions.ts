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

/** The settings of subscriptions. */
export const subscriptionEnv = {
  /** Secrets of subscriptions are derived from it. Several, with commas between them, all sign: the first one makes new secrets. */
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
  /** What is kept of a caller, and who that is later: undefined when nobody may read any more. */
  rights: { save(caller: Caller): Rights; restore(saved: unknown): Promise<Caller | undefined> };
}

/** The problem codes of the routes. */
export const subscriptionCodes: ProblemCodes = {
  createSubscription: { 409: ['idempotency_key_used', 'too_many_subscriptions'] },
  replaySubscription: { 409: ['too_many_waiting'] },
};

const days = 30;
/** Most are delivered at once, so they are many. */
const deliveredDays = 3;

/** What `withPruning` deletes. */
export const outdatedAttempts: readonly Prunable[] = [
  { table: 'subscription_attempts', outdated: `sent_at < now() - interval '${days} days'` },
  {
    table: 'subscription_attempts',
    outdated: `error is null and sent_at < now() - interval '${deliveredDays} days'`,
  },
  { table: 'subscription_notices', outdated: 'day < current_date' },
  { table: 'subscription_held', outdated: `failed_at < now() - interval '${days} days'` },
];

/** Counts what ended without its owner. */
const addDisabledMetric = (sql: Sql, { registry }: Metrics): void => {
  const read = createReading(registry, 'subscriptions', async () => {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from subscriptions
      where state = 'disabled' and state_reason in ('failures', 'expired')`;
    return count;
  });
  new Gauge({
    name: 'subscriptions_disabled',
    help: 'Subscriptions that were disabled after five days of failures, or whose missed changes are no longer kept',
    registers: [registry],
    async collect() {
      this.set((await read()) ?? Number.NaN);
    },
  });
};

/** Subscriptions to the lists of a service, whose changes are then sent to an address. Source: docs/feed.md (Having changes sent to you). */
export const createSubscriptions = <Caller extends Subscriber>(
  {
    database: { sql },
    log,
    metrics,
    resources,
  }: Pick<BaseContext, 'database' | 'log' | 'metrics' | 'resources'>,
  env: Env,
  { service, auth, rights }: SubscriptionOptions<Caller>,
) => {
  const keys = env.SUBSCRIPTIONS_KEY;
  const addresses = env.SUBSCRIBER_ADDRESSES ?? (env.NODE_ENV === 'production' ? 'public' : 'any');
  const send = createSend({ addresses, timeoutMs: env.SUBSCRIBER_TIMEOUT_MS });
  const lists = new Map<string, OfferedList<Caller>>();
  const attempts = new Counter({
    name: 'subscription_attempts_total',
    help: 'Deliveries to subscribers that were tried, by what came of them',
    labelNames: ['result'],
    registers: [metrics.registry],
  });
  addDisabledMetric(sql, metrics);
  let dispatch: ReturnType<typeof startDispatch<Caller>> | undefined;
  return {
    /** Lets callers subscribe to a list. Its readers and those who subscribe must be of one kind. */
    offer: (list: OfferedList<Caller>): void => void lists.set(list.list, list),
    /** Gives the subscriptions of a subject to another one with the same rights. */
    transferSubscriptions,
    /** The routes, once all lists are there. */
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
    /** Delivers until the context of the service is disposed of, which begins when there are lists. */
    start: (): void => {
      const { SMTP_URL: url, SMTP_FROM: from } = env;
      const notices =
        url === undefined
          ? undefined
          : resources.use(startNotices({ sql, log, service, key: keys[0], url, from }));
      const onResult = ({ attempts: made, isGone }: Result) => {
        for (const { error } of made) attempts.inc({ result: error === null ? 'delivered' : 'failed' });
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
