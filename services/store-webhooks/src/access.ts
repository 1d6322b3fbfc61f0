import { hasScope, type Caller } from '@platform/auth/bearer';
import { InsufficientScope } from '@platform/service-kit/problem';
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
