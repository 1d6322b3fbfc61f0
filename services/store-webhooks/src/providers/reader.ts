import { createFairQueue } from '@platform/service-kit/fair-queue';
import { createLru } from '@platform/service-kit/lru';
import type { Addresses } from '@platform/service-kit/outbound';
import { currentRequest, waitUncounted } from '@platform/service-kit/request-scope';
import { BrokenCircuitError, bulkhead, BulkheadRejectedError, handleType, retry, wrap } from 'cockatiel';
import { ProviderBusy, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { exchange } from './exchange.ts';
import { createCircuit, createOriginPause, describePause, pauseMs } from './pauses.ts';

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

/** Requests in progress, and waiting requests, of one store at an origin. */
const [maxRequests, maxWaiting] = [8, 24];
/** Requests in progress of all stores at one origin. */
const maxAtOrigin = 64;
/** Longest time until a request beyond the limit is repeated. */
const maxCongestionMs = 60_000;

/** A provider that limits requests (429) is not asked again at once. */
const retryOnce = retry(
  handleType(ProviderUnavailable, ({ status }) => status !== 429),
  { maxAttempts: 1 },
);

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
 * A bulkhead that serves the networks of its waiting requests in turn; when it is full, the network with the most is refused.
 * Otherwise one client with many open payments could fill it.
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
 * Limits the requests of one store at an origin. A request beyond the limit is rejected with the time until there will be
 * capacity for it. What fails counts against the store alone, whose settings or account at the provider may cause it.
 */
const createClient = () => {
  const limit = createTurns();
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
 * Reads from providers over HTTP for a store, so a request may be repeated: two attempts with a time limit each, circuit
 * breakers and limits of requests in progress for each origin and each store at it, no redirects, JSON only. Rejects with
 * ProviderUnavailable when there is no answer, with ProviderBusy when the provider was not asked, and with Unprocessable when
 * asking again is useless.
 */
export const createReaders = ({ timeoutMs, addresses, stopping = never }: ReaderOptions) => {
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
    const ask = () => exchange({ ...request, provider, url, timeoutMs, addresses, stopping });
    try {
      return await waitUncounted(() =>
        client.execute(provider, () =>
          policy.execute(() => origin.execute(client, () => client.circuit.policy.execute(ask))),
        ),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      // Random, so that the events of a long outage are not all due at the same moment.
      const waitMs = Math.round(pauseMs * (1 + 2 * Math.random()));
      throw new ProviderBusy(provider, describePause(client.circuit.pause, origin.pause), waitMs, 'open');
    }
  };
  return (storeId: string) => ({
    /** Undefined: the provider has no such resource (404). */
    get: (provider: Provider, path: Path, headers: Headers): Promise<unknown> =>
      read(storeId, provider, path, { method: 'GET', headers }),
    /** A look-up that the provider offers as a POST. */
    ask: (provider: Provider, path: Path, headers: Headers, body: unknown): Promise<unknown> => {
      const allHeaders = { 'content-type': 'application/json', ...headers };
      return read(storeId, provider, path, {
        method: 'POST',
        headers: allHeaders,
        body: JSON.stringify(body),
      });
    },
  });
};
