import type { Redis } from 'ioredis';
import type { Migrations } from '../database/migrate.ts';
import { openDatabase, type Database } from '../database/database.ts';
import type { CommonEnv } from './env.ts';
import { createHealth, type Health } from './health.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createBodyBudget } from '../overload/body-budget.ts';
import { createCpuShare } from '../overload/cpu-share.ts';
import { createClientAddress } from '../http/network.ts';
import { createGuessLimit, noGuessLimit } from '../overload/guess-limit.ts';
import { createOutboundThreads, type OutboundThreads } from '../http/outbound-threads.ts';
import type { Limits } from '../http/run-route.ts';
import { createRequestRateLimit } from '../overload/rate-limit.ts';
import { createPrometheus, type Prometheus } from '../ops-summary/prometheus.ts';
import { openRedis } from './redis.ts';
import { createRefusalSampler, type RefusalSampler } from '../overload/refusal-sampler.ts';
import type { Guard } from '../http/route.ts';

/** The log and the metrics of the process, which exist before its context. */
export interface LogAndMetrics {
  log: Log;
  metrics: Metrics;
}

/** The part of the context that all services have; a service spreads it and adds its own clients and settings. */
export interface BaseContext extends LogAndMetrics, Limits, AsyncDisposable {
  database: Database;
  redis: Redis | undefined;
  health: Health;
  /** Decides which refused requests are logged. */
  refusals: RefusalSampler;
  prometheus: Prometheus | undefined;
  /** Verifies the tokens of the operations page, which reads `/ops/…`; without it only `/ops/status` exists. */
  ops?: { guard(scope?: string): Guard<{ subject: string; scopes: ReadonlySet<string> }> } | undefined;
  /** `failures`: logs only requests with a status of 400 or more. */
  requestLog: 'all' | 'failures';
  /** The public address of the platform, if it is configured. */
  publicUrl: string | undefined;
  /** Origins whose pages may read responses (CORS). */
  corsOrigins: readonly string[];
  /** After this time the statements of a request are cancelled. */
  requestDeadlineMs: number;
  /** The maximum number of requests in progress under overload. */
  maxInProgress: number;
  /** Called after every successful request that may have changed data. */
  changed?: () => void;
  /** Sends requests to addresses that clients have chosen. */
  outbound: OutboundThreads;
  now: () => Date;
  /** Closed with the context, in reverse order. */
  resources: AsyncDisposableStack;
}

interface ServiceInfo {
  /** The service's name. */
  name: string;
  migrations: Migrations;
  /** For a service that works without its database: the file that records that this database has run the migrations. */
  schemaFile?: string;
  /** PostgreSQL settings of each connection. */
  settings?: Record<string, string>;
}

const openLimits = (env: CommonEnv, name: string, redis: Redis | undefined): Limits => {
  const clientAddress = createClientAddress(env.TRUST_PROXY.split(',').filter((address) => address !== ''));
  const common = {
    clientAddress,
    bodyBudget: createBodyBudget(env.BODY_MEMORY_BYTES),
    reading: createCpuShare({ share: 0.5 }),
  };
  if (env.RATE_LIMIT === 'off') return { ...common, guessLimit: noGuessLimit, rateLimit: undefined };
  const perMinute = (counter: string, points: number) => ({
    redis,
    prefix: `${name}:${counter}`,
    points,
    seconds: 60,
  });
  return {
    ...common,
    guessLimit: createGuessLimit(perMinute('failures', env.UNKNOWN_CREDENTIALS_PER_MINUTE), clientAddress),
    rateLimit: createRequestRateLimit(perMinute('rate', env.RATE_LIMIT_PER_MINUTE)),
  };
};

/** Opens the common part of a context. It does not connect to PostgreSQL yet. */
export const openBaseContext = (
  env: CommonEnv,
  { name, migrations, schemaFile, settings }: ServiceInfo,
  logAndMetrics: LogAndMetrics,
): BaseContext => {
  const { log } = logAndMetrics;
  const resources = new AsyncDisposableStack();
  const database = resources.use(
    openDatabase({
      url: env.DATABASE_URL,
      name,
      ...(settings && { settings }),
      max: env.DATABASE_POOL,
      maxWaiting: env.DATABASE_QUEUE,
      maxWaitMs: env.DATABASE_WAIT_MS,
      refuseInTransactions: env.NODE_ENV !== 'production',
    }),
  );
  const redis = openRedis(env.REDIS_URL, log, env.REDIS_TIMEOUT_MS);
  resources.defer(() => redis?.disconnect());
  return {
    ...logAndMetrics,
    database,
    redis,
    health: createHealth({ database, redis, migrations, schemaFile }),
    prometheus: env.PROMETHEUS_URL === undefined ? undefined : createPrometheus(env.PROMETHEUS_URL, name),
    ...openLimits(env, name, redis),
    outbound: resources.use(createOutboundThreads(log)),
    refusals: resources.use(createRefusalSampler(log)),
    requestLog: env.REQUEST_LOG,
    publicUrl: env.PUBLIC_URL,
    corsOrigins: env.CORS_ORIGINS,
    requestDeadlineMs: env.REQUEST_DEADLINE_MS,
    maxInProgress: env.MAX_IN_PROGRESS,
    now: () => new Date(),
    resources,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
