import type { IncomingMessage } from 'node:http';
import type { PreparedRoute, Params } from './run-route.ts';

/** Finds the route of a request, and the parameters in its path; undefined when it is for none of the routes. */
type Matcher = (req: IncomingMessage) => { route: PreparedRoute; params: Params } | undefined;

/** Matches targets without escapes; everything else about an address is left to Express. */
const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#%]+)')}(?:\\?|$)`);

/**
 * Finds fast routes without Express (docs/adr/0009). Express has these routes too: for HEAD, OPTIONS, other methods and
 * other spellings of the address.
 */
export const createMatcher = (routes: readonly PreparedRoute[]): Matcher => {
  const table = routes.map((route) => ({
    route,
    method: route.method.toUpperCase(),
    prefix: route.address.split('{', 1)[0] ?? route.address,
    pattern: patternOf(route.address),
  }));
  return ({ method: sent, url = '' }) => {
    for (const { route, method, prefix, pattern } of table) {
      const match = sent === method && url.startsWith(prefix) ? pattern.exec(url) : null;
      if (match !== null) return { route, params: match.groups ?? {} };
    }
    return undefined;
  };
};
