import type { BaseContext } from '@platform/service-kit/context';
import type { Queries } from '@platform/service-kit/record';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Guard } from '@platform/service-kit/route';
import type { z } from 'zod';

/** A list that can be followed. */
export interface FollowedList<Caller> {
  /** Its name: its `list` in `feedParts`. */
  list: string;
  /** One record in words. */
  name: string;
  /** The tag of its operations in the OpenAPI document. */
  tag: string;
  auth: Guard<Caller>;
  /** An item of the list. */
  item: z.ZodObject;
  /** The query parameter that names an owner, if there is one. */
  filter?: readonly [name: string, schema: z.ZodType<string | undefined>];
  /** The owners whose records the caller may see and has asked for; undefined for all. */
  owners(asked: string | undefined, caller: Caller): readonly string[] | undefined;
  /** Further owners, where a table says whose records a caller sees, and not the credential alone. */
  memberships?: Memberships<Caller>;
  /** Callers for whom this returns the same text see the same items, so that what is read for one of them is shown to all. */
  rights(caller: Caller): string;
  /** The items with these ids that are in the list and that the caller may see, as JSON text. */
  items(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string>>;
  /** About how many bytes these items have; given by lists whose items may be large. */
  bytes?(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, number>>;
  /** The records after a place, in a fixed order; `id` is the place of each, `json` an item as JSON text. */
  records(sql: Queries, slice: Slice, caller: Caller): Promise<readonly { id: string; json: string }[]>;
}

export interface Memberships<Caller> {
  /** The table in the log, whose owners are among those of the list. When a row is given to a caller or taken away, their cursors end. */
  list: string;
  owners(sql: Queries, caller: Caller): Promise<readonly string[]>;
}

export interface Slice {
  after: string;
  /** Only records of these; undefined for all. */
  owners: readonly string[] | undefined;
  limit: number;
}

export interface FeedOptions extends Pick<BaseContext, 'database' | 'health'> {
  /** The part of the path after `/feeds`. */
  service: string;
  /** How many days changes are kept. */
  days: number;
  /** Event streams and waiting requests that the process holds open; 1,000 unless given. */
  maxStreams?: number;
  /** Whether the part `byOwner` is installed. */
  byOwner?: boolean;
  /** Parameter names are matched without regard to case. */
  anyCaseQuery?: boolean;
}

/** What is read of large items at a time, in bytes. */
export const maxBytes = 2 ** 20;

/** How many of these sizes come to `max` at most; one, however large it is. */
export const countWithin = (sizes: readonly number[], max: number): number => {
  let sum = 0;
  const over = sizes.findIndex((size) => (sum += size) > max);
  return over === -1 ? sizes.length : Math.max(over, 1);
};

/** About how many bytes the items of these changes have, where they may be large; otherwise 0. */
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

/** The name of a list in ids of operations. */
export const nounOf = (list: string): string =>
  list.replaceAll(/(?:^|-)[a-z]/g, (first) => first.slice(-1).toUpperCase());

/** The query parameters of a list beside those that all have. */
export const filtersOf = <Caller>({ filter }: FollowedList<Caller>) =>
  filter ? { [filter[0]]: filter[1] } : {};

/** The owners whose records a request is about; undefined for all. */
export const ownersOf = <Caller>(
  { filter, owners }: FollowedList<Caller>,
  query: object,
  caller: Caller,
): readonly string[] | undefined =>
  owners(filter && ((query as Record<string, unknown>)[filter[0]] as string | undefined), caller);

/** By which work of a caller is bounded: the network of one without a credential. */
export const callerKey = <Caller>({ keyOf }: Guard<Caller>, caller: Caller): string =>
  keyOf(caller) ?? currentRequest()?.network ?? '';
