import {
  BrokenCircuitError,
  circuitBreaker,
  ConsecutiveBreaker,
  handleAll,
  handleWhen,
  retry,
  wrap,
  type IPolicy,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { Unprocessable } from '../worker/unprocessable.ts';
import { exchange, ProviderUnavailable, type Addresses } from './exchange.ts';

type Headers = Record<string, string>;

/** Segments of a path, not encoded; they may be ids from a webhook. */
type Path = readonly string[];

/** Requests to providers. Every method only reads, so a request may be repeated. */
export interface ProviderReader {
  /** Undefined: the provider has no such resource (404). */
  get(baseUrl: string | undefined, path: Path, headers: Headers): Promise<unknown>;
  /** A look-up that the provider offers as a POST. */
  ask(baseUrl: string | undefined, path: Path, headers: Headers, body: unknown): Promise<unknown>;
}

export interface ReaderOptions {
  /** For each try. */
  timeoutMs: number;
  /** `any` also allows private addresses. */
  addresses: Addresses;
}

/** After this many failures in a row a provider is not requested for a while. */
const failures = 5;
const openCircuitMs = 10_000;

const retryOnce = retry(
  handleWhen((error) => error instanceof ProviderUnavailable && error.isTransient),
  { maxAttempts: 1 },
);

/**
 * The address of a path below `baseUrl`. Throws Unprocessable for a segment that would change the path:
 * a URL parser resolves dot segments even where they are percent-encoded.
 */
const addressOf = (baseUrl: string | undefined, path: Path): URL => {
  if (baseUrl === undefined) throw new Unprocessable('The store has no address for this provider.');
  if (path.some((segment) => ['', '.', '..'].includes(segment)))
    throw new Unprocessable('The payload has an id that can not be part of an address.');
  const url = new URL(baseUrl);
  const base = url.pathname.split('/').filter((segment) => segment !== '');
  url.pathname = [...base, ...path.map(encodeURIComponent)].join('/');
  return url;
};

/**
 * Reads from providers over HTTP: two tries with a time limit each, a circuit breaker for each origin, no
 * redirects, JSON only. Rejects with ProviderUnavailable when there is no answer.
 */
export const createReader = ({ timeoutMs, addresses }: ReaderOptions): ProviderReader => {
  const policies = new LRUCache<string, IPolicy>({ max: 1000 });
  const createPolicy = () => {
    const breaker = new ConsecutiveBreaker(failures);
    return wrap(retryOnce, circuitBreaker(handleAll, { halfOpenAfter: openCircuitMs, breaker }));
  };

  const read = async (url: URL, method: 'GET' | 'POST', headers: Headers, body?: string) => {
    const policy = policies.get(url.origin) ?? createPolicy();
    policies.set(url.origin, policy);
    try {
      return await policy.execute(() => exchange({ url, method, headers, body, timeoutMs, addresses }));
    } catch (error) {
      if (error instanceof BrokenCircuitError)
        throw new ProviderUnavailable('failed repeatedly and is given a pause');
      throw error;
    }
  };
  return {
    get: (baseUrl, path, headers) => read(addressOf(baseUrl, path), 'GET', headers),
    ask: (baseUrl, path, headers, body) => {
      const allHeaders = { 'content-type': 'application/json', ...headers };
      return read(addressOf(baseUrl, path), 'POST', allHeaders, JSON.stringify(body));
    },
  };
};
