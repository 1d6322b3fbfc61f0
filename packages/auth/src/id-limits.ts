/** The claims that limit a token to the records with certain ids; what they stand for is the contract of the platform. */
const limitingClaims = ['stores', 'clients'] as const;

/** The ids, in lower case, that a claim of the token limits its holder to; undefined: no limit. */
export type IdLimits = Readonly<Record<(typeof limitingClaims)[number], ReadonlySet<string> | undefined>>;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isUuidList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === 'string' && uuid.test(id));

/**
 * Reads the limits of a token. Undefined when a claim is anything but a list of UUIDs: the token is then refused, because
 * a limit that is not understood must never count as none. An empty list allows nothing.
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
