import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';

/** A request that is over. */
export interface Ended {
  requestId: string;
  method: string;
  /** The template, never the path: few, and without what a caller wrote into it. */
  route: string | undefined;
  status: number;
  ms: number;
  /** Left out where it may hold a secret. */
  path?: string | undefined;
  /** The whole answer was handed to the network. */
  answered: boolean;
}

/** Counts a request and writes its line. */
export type Access = (ended: Ended) => void;

/**
 * One line a request: id, method, route, status, path, time in ms. Neither headers nor query strings.
 * What requests of a kind have in common is made into text once, as a binding.
 */
export const createAccess = (log: Log, { record }: Metrics): Access => {
  const kinds = new Map<string, Log>();
  const logOf = (method: string, route: string | undefined, status: number): Log => {
    const key = `${status} ${method} ${route}`;
    let one = kinds.get(key);
    if (one === undefined) kinds.set(key, (one = log.child({ method, route, status })));
    return one;
  };
  return ({ requestId, method, route, status, ms, path, answered }) => {
    record(method, route ?? 'none', status, ms);
    const kind = logOf(method, route, status);
    const line = { requestId, path, ms: Math.round(ms) };
    if (status >= 500) kind.error(line, 'failed');
    else kind.info(line, answered ? 'answered' : 'client went away');
  };
};
