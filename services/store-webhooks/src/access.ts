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

/** Throws InsufficientScope unless the caller has this scope; for scopes that only some requests to a route need. */
export const requireScope = ({ scopes }: Caller, scope: Scope): void => {
  if (!hasScope(scopes, scope) && !hasScope(scopes, 'stores:admin')) throw new InsufficientScope(scope);
};

/** Used in a path instead of a store id: all stores that the caller may read. */
export const everyStore = '-';

/**
 * Restricts a route below `/v1/stores/{storeId}` to the stores of the caller's token: throws NotFound for any other store.
 * Lists of all stores are not refused; they leave out the stores that the token does not allow.
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

/** Throws a Problem (403) if the caller's token is limited to some stores. */
export const requireEveryStore = ({ stores }: Caller): void => {
  if (stores === undefined) return;
  const detail = 'The access token is limited to some stores (claim stores), so it cannot create a store.';
  throw new Problem({ status: 403, code: 'limited_to_stores', detail });
};
