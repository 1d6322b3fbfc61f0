import { createFairQueue } from '@platform/service-kit/fair-queue';
import { createLru } from '@platform/service-kit/lru';
import type { Addresses } from '@platform/service-kit/outbound';
import type { OutboundThreads } from '@platform/service-kit/outbound-threads';
import { currentRequest, waitUncounted } from '@platform/service-kit/request-scope';
import { BrokenCircuitError, bulkhead, BulkheadRejectedError, handleType, retry, wrap } from 'cockatiel';
import { ProviderBusy, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { exchange } from './exchange.ts';
import { createCircuit, createOriginPause, describePause, pauseMs } from './pauses.ts';

type Headers = Record<string, string>;

/** Segments of a path, not yet encoded; they may be ids from a webhook. */
type Path = readonly string[];

/** The provider of a store. Messages contain its kind and the host and port of its address, but nothing else of the address. */
interface Provider {
  kind: string;
  baseUrl?: string | undefined;
}

export interface ReaderOptions {
  outbound: OutboundThreads;
  /** Timeout of each attempt. */
  timeoutMs: number;
  /** `any` also allows private addresses. */
  addresses: Addresses;
  /** Interrupts all requests when it is aborted; they reject with Stopped. */
  stopping?: AbortSignal;
}

const never = new AbortController().signal;

/** Maximum requests in progress and waiting requests of one store at an origin. */
const [maxRequests, maxWaiting] = [8, 24];
/** Maximum requests in progress of all stores at one origin. */
const maxAtOrigin = 64;
/** Maximum time until a request over the limit is repeated. */
const maxCongestionMs = 60_000;

/** A request that the provider limits (429) is not retried at once. */
const retryOnce = retry(
  handleType(ProviderUnavailable, ({ status }) => status !== 429),
  { maxAttempts: 1 },
);

/**
 * The address of a path below `baseUrl`. Throws Unprocessable for a segment that would change the path:
 * a URL parser resolves dot segments even if they are percent-encoded.
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
 * A bulkhead that serves the networks of its waiting requests in turn. When it is full, it refuses a request of the network with
 * the most waiting ones; otherwise one client with many open payments could fill it.
 */
const createFairBulkhead = () => {
  const waiting = createFairQueue<Waiting>();
  let running = 0;
  const acquire = async (): Promise<void> => {
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
    /** Rejects with BulkheadRejectedError if too many requests wait. */
    execute: async <T>(work: () => Promise<T>): Promise<T> => {
      await acquire();
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
 * Limits the requests of one store at an origin. A request over the limit is rejected with the time until there will be
 * capacity for it. Failures count only for this store, because its settings or its account at the provider may cause them.
 */
const createClient = () => {
  const limit = createFairBulkhead();
  let averageMs = 200;
  let nextAt = 0;
  return {
    circuit: createCircuit(),
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

export type ProviderReader = ReturnType<ReturnType<typeof createReaders>>;

/**
 * Reads from providers over HTTP for a store. Reads may be repeated, so there are two attempts with a timeout each. Circuit
 * breakers and limits of concurrent requests exist per origin and per store at it; no redirects, JSON only. Rejects with
 * ProviderUnavailable if there is no answer, with ProviderBusy if no request was sent, and with Unprocessable if a retry is
 * useless.
 */
export const createReaders = ({ outbound, timeoutMs, addresses, stopping = never }: ReaderOptions) => {
  const origins = createLru(1000, 0, () => ({
    limit: bulkhead(maxAtOrigin, Infinity),
    ...createOriginPause(),
  }));
  const clients = createLru(10_000, 0, createClient);

  const read = async (
    storeId: string,
    { kind, baseUrl }: Provider,
    path: Path,
    request: { method: 'GET' | 'POST'; headers: Headers; body?: string },
  ) => {
    const url = addressOf(baseUrl, path);
    const provider = `${kind} (${url.host})`;
    const origin = origins.memo(url.origin);
    const client = clients.memo(`${url.origin} ${storeId}`);
    const policy = wrap(origin.limit, retryOnce);
    const sendOnce = () =>
      exchange({ ...request, outbound, storeId, provider, url, timeoutMs, addresses, stopping });
    try {
      return await waitUncounted(() =>
        client.execute(provider, () =>
          policy.execute(() => origin.execute(client, () => client.circuit.policy.execute(sendOnce))),
        ),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      // With jitter, so that the events of a long outage do not become due all at once.
      const waitMs = Math.round(pauseMs * (1 + 2 * Math.random()));
      throw new ProviderBusy(provider, describePause(client.circuit.pause, origin.pause), waitMs, 'open');
    }
  };
  return (storeId: string) => ({
    /** Undefined if the provider has no such resource (404). */
    get: (provider: Provider, path: Path, headers: Headers): Promise<unknown> =>
      read(storeId, provider, path, { method: 'GET', headers }),
    /** A lookup that the provider offers as a POST. */
    post: (provider: Provider, path: Path, headers: Headers, body: unknown): Promise<unknown> => {
      const allHeaders = { 'content-type': 'application/json', ...headers };
      return read(storeId, provider, path, {
        method: 'POST',
        headers: allHeaders,
        body: JSON.stringify(body),
      });
    },
  });
};
