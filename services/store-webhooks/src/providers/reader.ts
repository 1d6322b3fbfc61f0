import {
  BrokenCircuitError,
  circuitBreaker,
  ConsecutiveBreaker,
  handleAll,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { exchange, ProviderAway, type Addresses } from './exchange.ts';
import { Unprocessable } from '../worker/unprocessable.ts';

/** Asks providers. Every method only reads, so each may be tried again. */
export interface ProviderReader {
  /** Undefined: the provider says there is no such thing (404). */
  get(baseUrl: string | undefined, path: Path, headers: Record<string, string>): Promise<unknown>;
  /** A look-up that the provider takes as a POST. */
  ask(
    baseUrl: string | undefined,
    path: Path,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<unknown>;
}

/** Segments of a path, not encoded; ids that a webhook named may stand among them. */
type Path = readonly string[];

export interface ReaderOptions {
  /** For one try. */
  timeoutMs: number;
  /** `any` lets private addresses be asked. */
  addresses: Addresses;
}

const tries = 2;
/** This many failures in a row, and a provider is left alone for a while. */
const failures = 5;
const restMs = 10_000;

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
 * Reads from providers over HTTP: two tries, a time limit for each, a circuit breaker for each
 * provider, no redirects, JSON only. Rejects with ProviderAway when it has no answer to give.
 */
export const createReader = ({ timeoutMs, addresses }: ReaderOptions): ProviderReader => {
  const breakers = new LRUCache<string, CircuitBreakerPolicy>({ max: 1000 });
  const breakerOf = (origin: string): CircuitBreakerPolicy => {
    const known = breakers.get(origin);
    if (known !== undefined) return known;
    const made = circuitBreaker(handleAll, {
      halfOpenAfter: restMs,
      breaker: new ConsecutiveBreaker(failures),
    });
    breakers.set(origin, made);
    return made;
  };

  const read = async (url: URL, method: 'GET' | 'POST', headers: Record<string, string>, body?: string) => {
    const breaker = breakerOf(url.origin);
    for (let left = tries; ; left--) {
      try {
        return await breaker.execute(() => exchange({ url, method, headers, body, timeoutMs, addresses }));
      } catch (error) {
        if (error instanceof BrokenCircuitError)
          throw new ProviderAway('is left alone after repeated failures');
        if (left <= 1 || !(error instanceof ProviderAway) || !error.mayPass) throw error;
      }
    }
  };
  return {
    get: (baseUrl, path, headers) => read(addressOf(baseUrl, path), 'GET', headers),
    ask: (baseUrl, path, headers, body) =>
      read(
        addressOf(baseUrl, path),
        'POST',
        { 'content-type': 'application/json', ...headers },
        JSON.stringify(body),
      ),
  };
};
