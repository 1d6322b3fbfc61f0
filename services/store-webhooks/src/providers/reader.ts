import { createFairQueue } from '@platform/service-kit/fair-queue';
import { createLru } from '@platform/service-kit/lru';
import type { Addresses } from '@platform/service-kit/outbound';
import { currentRequest, waitUncounted } from '@platform/service-kit/request-scope';
import {
  BrokenCircuitError,
  bulkhead,
  BulkheadRejectedError,
  circuitBreaker,
  ConsecutiveBreaker,
  handleType,
  retry,
  wrap,
} from 'cockatiel';
import { ProviderBusy, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { exchange } from './exchange.ts';

type Headers = Record<string, string>;

/** Segments of a path, not encoded; they may be ids from a webhook. */
type Path = readonly string[];

/** The provider of a store. Messages name its kind, and the host and port of its address, but nothing else of it. */
interface Provider {
  kind: string;
  baseUrl?: string | undefined;
}

export interface ReaderOptions {
  /** Of each attempt. */
  timeoutMs: number;
  /** `any` also allows private addresses. */
  addresses: Addresses;
  /** Interrupts all requests when it is aborted; they reject with Stopped. */
  stopping?: AbortSignal;
}

const never = new AbortController().signal;

/** After this many failures without a success in between, a provider is not requested for a while. */
const failures = 5;
const openCircuitMs = 10_000;
/** Requests in progress, and waiting requests, for one account (origin and credentials) at a provider. */
const [maxRequests, maxWaiting] = [8, 24];
/** Requests in progress for all accounts at one origin. */
const maxAtOrigin = 64;
/** Longest time until a request beyond the limit is repeated. */
const maxCongestionMs = 60_000;

/** A provider that limits requests (429) is not asked again at once. */
const retryOnce = retry(
  handleType(ProviderUnavailable, ({ status }) => status !== 429),
  { maxAttempts: 1 },
);

/** Only failures that may end by themselves count: after a rejected request, the next one may succeed. */
const createCircuit = (counts: (error: ProviderUnavailable) => boolean) => {
  const policy = circuitBreaker(handleType(ProviderUnavailable, counts), {
    halfOpenAfter: openCircuitMs,
    breaker: new ConsecutiveBreaker(failures),
  });
  /** The end of the last pause, in milliseconds since 1970, and the failure that began it. */
  const pause = { until: 0, last: '' };
  policy.onBreak((reason) => {
    pause.until = Date.now() + openCircuitMs;
    if ('error' in reason && reason.error instanceof ProviderUnavailable) pause.last = reason.error.what;
  });
  return { policy, pause };
};

type Circuit = ReturnType<typeof createCircuit>;

const describePause = (account: Circuit, origin: Circuit): string => {
  const { last, until } = (account.pause.until > origin.pause.until ? account : origin).pause;
  return `failed repeatedly (last: ${last}) and is not asked again before ${new Date(until).toISOString().slice(0, 19)}Z`;
};

/**
 * The address of a path below `baseUrl`. Throws Unprocessable for a segment that would change the path:
 * a URL parser resolves dot segments even where they are percent-encoded.
 */
const addressOf = (baseUrl: string | undefined, path: Path): URL => {
  if (baseUrl === undefined) throw new Unprocessable('The store has no address for this provider.');
  if (path.some((segment) => ['', '.', '..'].includes(segment)))
    throw new Unprocessable('The payload has an id that cannot be part of an address.');
  const url = new URL(baseUrl);
  const base = url.pathname.split('/').filter((segment) => segment !== '');
  url.pathname = [...base, ...path.map(encodeURIComponent)].join('/');
  return url;
};

interface Waiting {
  start(): void;
  refuse(error: BulkheadRejectedError): void;
}

/**
 * As a bulkhead, but the networks of those who wait take turns, and the one with the most is refused: anybody who has many
 * open payments can have the provider asked for all of them at once.
 */
const createTurns = () => {
  const waiting = createFairQueue<Waiting>();
  let running = 0;
  const turn = async (): Promise<void> => {
    if (running < maxRequests) {
      running += 1;
      return;
    }
    await new Promise<void>((start, refuse) => {
      waiting.push([currentRequest()?.network ?? ''], { start, refuse });
      if (waiting.size > maxWaiting)
        waiting.dropLargest()?.refuse(new BulkheadRejectedError(maxRequests, maxWaiting));
    });
  };
  return {
    /** Rejects with BulkheadRejectedError when too many wait. */
    execute: async <T>(work: () => Promise<T>): Promise<T> => {
      await turn();
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next.start();
        else running -= 1;
      }
    },
  };
};

/**
 * Limits the requests of one account (origin and credentials). A request beyond the limit is rejected with the time
 * until there will be capacity for it. Answers with 5xx or 429 count against the account, because its requests may
 * cause them.
 */
const createAccount = () => {
  const limit = createTurns();
  let averageMs = 200;
  let nextAt = 0;
  return {
    circuit: createCircuit(({ status }) => status !== undefined),
    execute: async (provider: string, request: () => Promise<unknown>): Promise<unknown> => {
      try {
        return await limit.execute(async () => {
          const start = performance.now();
          try {
            return await request();
          } finally {
            averageMs += (performance.now() - start - averageMs) / 5;
          }
        });
      } catch (error) {
        if (!(error instanceof BulkheadRejectedError)) throw error;
        const now = performance.now();
        nextAt = Math.min(Math.max(nextAt, now) + averageMs / maxRequests, now + maxCongestionMs);
        throw new ProviderBusy(
          provider,
          'has too many requests in progress',
          Math.ceil(nextAt - now),
          'closed',
        );
      }
    },
  };
};

/** Requests of all accounts pause if the origin does not answer. */
const createOrigin = () => ({
  limit: bulkhead(maxAtOrigin, Infinity),
  circuit: createCircuit(({ status }) => status === undefined),
});

export type ProviderReader = ReturnType<typeof createReader>;

/**
 * Reads from providers over HTTP, so a request may be repeated: two attempts with a time limit each, circuit breakers and limits of requests in progress
 * for each origin and each account, no redirects, JSON only. Rejects with ProviderUnavailable when there is no answer,
 * with ProviderBusy when the provider was not asked, and with Unprocessable when asking again is useless.
 */
export const createReader = ({ timeoutMs, addresses, stopping = never }: ReaderOptions) => {
  const origins = createLru(1000, 0, createOrigin);
  const accounts = createLru(10_000, 0, createAccount);

  const read = async (
    { kind, baseUrl }: Provider,
    path: Path,
    request: { method: 'GET' | 'POST'; headers: Headers; body?: string },
  ) => {
    const url = addressOf(baseUrl, path);
    const provider = `${kind} (${url.host})`;
    const origin = origins.memo(url.origin);
    const account = accounts.memo(`${url.origin} ${JSON.stringify(request.headers)}`);
    const policy = wrap(origin.limit, retryOnce, account.circuit.policy, origin.circuit.policy);
    try {
      return await waitUncounted(() =>
        account.execute(provider, () =>
          policy.execute(() => exchange({ ...request, provider, url, timeoutMs, addresses, stopping })),
        ),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      // Random, so that the events of a long outage are not all due at the same moment.
      const waitMs = Math.round(openCircuitMs * (1 + 2 * Math.random()));
      throw new ProviderBusy(provider, describePause(account.circuit, origin.circuit), waitMs, 'open');
    }
  };
  return {
    /** Undefined: the provider has no such resource (404). */
    get: (provider: Provider, path: Path, headers: Headers): Promise<unknown> =>
      read(provider, path, { method: 'GET', headers }),
    /** A look-up that the provider offers as a POST. */
    ask: (provider: Provider, path: Path, headers: Headers, body: unknown): Promise<unknown> => {
      const allHeaders = { 'content-type': 'application/json', ...headers };
      return read(provider, path, { method: 'POST', headers: allHeaders, body: JSON.stringify(body) });
    },
  };
};
