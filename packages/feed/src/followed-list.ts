import type { BaseContext } from '@platform/service-kit/context';
import type { Queries } from '@platform/service-kit/record';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Guard } from '@platform/service-kit/route';
import type { z } from 'zod';

/** A list that can be followed. */
export interface FollowedList<Caller> {
  /** Name of the list, as in `feedParts`. */
  list: string;
  /** The name of a record in sentences, such as `inventory item`. */
  name: string;
  /** The tag of its operations in the OpenAPI document. */
  tag: string;
  auth: Guard<Caller>;
  /** Schema of an item of the list. */
  item: z.ZodObject;
  /** The query parameter that filters by owner, if there is one. */
  filter?: readonly [name: string, schema: z.ZodType<string | undefined>];
  /** The owners whose records the caller may see and requested; undefined for all. */
  owners(requestedOwner: string | undefined, caller: Caller): readonly string[] | undefined;
  /** Further owners, if a table and not only the credential decides whose records a caller sees. */
  memberships?: Memberships<Caller>;
  /** A key of the caller's rights. Callers with the same key see the same items, so that they can share what was read. */
  rights(caller: Caller): string;
  /** Returns the items with these ids that are in the list and visible to the caller: id → JSON text. */
  items(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string>>;
  /** Returns the approximate size of these items in bytes. Only for lists whose items may be large. */
  bytes?(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, number>>;
  /** Returns the records of a slice in a fixed order. `id` is the position for the next slice, `json` an item as JSON text. */
  records(sql: Queries, slice: Slice, caller: Caller): Promise<readonly { id: string; json: string }[]>;
}

export interface Memberships<Caller> {
  /** The list of memberships in the log. Its owners are callers: the cursors of a caller end when it gains or loses a membership. */
  list: string;
  owners(sql: Queries, caller: Caller): Promise<readonly string[]>;
}

export interface Slice {
  after: string;
  /** Only records of these owners; undefined for all. */
  owners: readonly string[] | undefined;
  limit: number;
}

export interface FeedOptions extends Pick<BaseContext, 'database' | 'health'> {
  /** The part of the path after `/feeds`. */
  service: string;
  /** Number of days for which changes are kept. */
  days: number;
  /** Maximum number of event streams and waiting requests of the process. Default: 1,000. */
  maxStreams?: number;
  /** Whether the part `byOwner` is installed. */
  byOwner?: boolean;
  /** Query parameter names are case-insensitive. */
  anyCaseQuery?: boolean;
}

/** Maximum bytes of large items that are read at a time. */
export const maxBytes = 2 ** 20;

/** How many of the first sizes have a sum of at most `max`; at least one. */
export const countWithin = (sizes: readonly number[], max: number): number => {
  let sum = 0;
  const firstOver = sizes.findIndex((size) => (sum += size) > max);
  return firstOver === -1 ? sizes.length : Math.max(firstOver, 1);
};

/** The approximate sizes of the items of these changes in bytes; 0 for lists without large items. */
export const sizesOf = async <Caller>(
  sql: Queries,
  { bytes }: Pick<FollowedList<Caller>, 'bytes'>,
  changes: readonly { id: string; action: string }[],
  caller: Caller,
): Promise<readonly number[]> => {
  const ids = new Set(changes.filter(({ action }) => action !== 'deleted').map(({ id }) => id));
  const sizes = ids.size > 0 ? await bytes?.(sql, [...ids], caller) : undefined;
  return changes.map(({ id, action }) => (action === 'deleted' ? 0 : (sizes?.get(id) ?? 0)));
};

/** The name of a list in operation ids. */
export const nounOf = (list: string): string =>
  list.replaceAll(/(?:^|-)[a-z]/g, (first) => first.slice(-1).toUpperCase());

/** The additional query parameters of a list. */
export const filtersOf = <Caller>({ filter }: FollowedList<Caller>) =>
  filter ? { [filter[0]]: filter[1] } : {};

/** The owners whose records a request addresses; undefined for all. */
export const ownersOf = <Caller>(
  { filter, owners }: FollowedList<Caller>,
  query: object,
  caller: Caller,
): readonly string[] | undefined =>
  owners(filter && ((query as Record<string, unknown>)[filter[0]] as string | undefined), caller);

/** The key by which the slots of a caller are counted: the network for callers without a credential. */
export const callerKey = <Caller>({ keyOf }: Guard<Caller>, caller: Caller): string =>
  keyOf(caller) ?? currentRequest()?.network ?? '';
