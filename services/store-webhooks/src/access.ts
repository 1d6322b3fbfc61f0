import { allowsId, type Caller } from '@platform/auth/bearer';
import { InsufficientScope, NotFound, Problem } from '@platform/service-kit/problem';
import type { Route } from '@platform/service-kit/route';
import { hasScope } from '@platform/service-kit/scopes';
import type { Context } from './context.ts';

/** What a caller may do here; `stores:admin` includes all of it (docs/contracts/store-webhooks.md). */
type Scope =
  | 'stores:read'
  | 'stores:write'
  | 'stores:admin'
  | 'events:read'
  | 'events:reveal'
  | 'payments:read';

/** Admits callers with this scope, and those with `stores:admin`. */
export const allow = ({ verifier }: Pick<Context, 'verifier'>, scope: Scope) =>
  scope === 'stores:admin' ? verifier.guard(scope) : verifier.guard(scope, 'stores:admin');

/** Throws InsufficientScope for a caller without this scope, for what only some requests to an address need. */
export const requireScope = ({ scopes }: Caller, scope: Scope): void => {
  if (!hasScope(scopes, scope) && !hasScope(scopes, 'stores:admin')) throw new InsufficientScope(scope);
};

/** In place of a store's id: all stores that the caller may read. */
export const everyStore = '-';

/**
 * A route below `/v1/stores/{storeId}` for tokens that may be limited to some stores: throws NotFound for any other store. A
 * list of all stores is not refused here; it leaves the others out.
 */
export const withinStores = (route: Route): Route => ({
  ...route,
  handle: (input) => {
    const { stores } = input.caller as Caller;
    const id = (input.params as { storeId?: string } | undefined)?.storeId;
    if (id !== undefined && id !== everyStore && !allowsId(stores, id)) throw new NotFound('store');
    return route.handle(input);
  },
});

/** Throws a Problem (403) for a caller who is limited to stores that exist. */
export const requireEveryStore = ({ stores }: Caller): void => {
  if (stores === undefined) return;
  const detail = 'The access token is limited to some stores (claim stores), so it creates no further one.';
  throw new Problem({ status: 403, code: 'limited_to_stores', detail });
};
