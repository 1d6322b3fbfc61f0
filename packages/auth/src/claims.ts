import type { JWTPayload, JWTVerifyResult } from 'jose';

/** Claims that limit a token to the records with certain ids. Source: ADR 130. */
const limitingClaims = ['stores', 'clients'] as const;

/** The ids, in lower case, that a claim of the token limits its holder to; undefined: no limit. */
export type IdLimits = Readonly<Record<(typeof limitingClaims)[number], ReadonlySet<string> | undefined>>;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isUuidList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === 'string' && uuid.test(id));

/**
 * Reads the limits of a token. Returns undefined when a claim is anything but a list of UUIDs: the token is then refused,
 * because an unreadable limit must not count as no limit. An empty list allows nothing.
 */
export const idLimitsOf = (payload: Record<string, unknown>): IdLimits | undefined => {
  const limits: Partial<Record<keyof IdLimits, ReadonlySet<string>>> = {};
  for (const claim of limitingClaims) {
    const ids = payload[claim];
    if (ids === undefined) continue;
    if (!isUuidList(ids)) return undefined;
    limits[claim] = new Set(ids.map((id) => id.toLowerCase()));
  }
  return { stores: limits.stores, clients: limits.clients };
};

/** Whether a limit includes this id: `allowsId(caller.stores, id)`. */
export const allowsId = (limit: ReadonlySet<string> | undefined, id: string): boolean =>
  limit === undefined || limit.has(id.toLowerCase());

/** Maps the values of a claim to scopes (AUTH_ROLES). */
export interface RoleMapping {
  /** Name of the claim, or a path such as `realm_access.roles`. Its value is a string or a list of strings. */
  claim: string;
  /** Scopes, separated by spaces, by value of the claim. */
  scopes: ReadonlyMap<string, string>;
}

const claimOf = (payload: JWTPayload, name: string): unknown => {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      payload,
    );
};

/** The scopes that a token gets from the values of its claim. Values that are not in the mapping give no scope. */
export const scopesOfRoles = (payload: JWTPayload, { claim, scopes }: RoleMapping): string[] =>
  [claimOf(payload, claim)]
    .flat()
    .flatMap((value) => (typeof value === 'string' ? (scopes.get(value)?.split(' ') ?? []) : []));

/** Claims of ID tokens only (OpenID Connect Core 2 and 3.3.2.11). */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash'];

/** Whether a token tells an application who signed in. Such a token gives access to nothing. */
export const isIdToken = (payload: JWTPayload): boolean => idTokenClaims.some((name) => name in payload);

/**
 * Whether a token is marked as an access token: by its type (RFC 9068), its scopes, or as Entra marks tokens of programs.
 * Roles alone do not show it: ID tokens may have them too, and the same audience if an application is its own API.
 */
export const isAccessToken = ({ payload, protectedHeader }: JWTVerifyResult): boolean =>
  (protectedHeader.typ?.toLowerCase().endsWith('at+jwt') ?? false) ||
  'scope' in payload ||
  'scp' in payload ||
  payload['idtyp'] === 'app';
