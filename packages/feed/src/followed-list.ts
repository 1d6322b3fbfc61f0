import type { BaseContext } from '@platform/service-kit/context';
import type { Queries } from '@platform/service-kit/record';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Guard } from '@platform/service-kit/route';
import type { z } from 'zod';

/** A list that can be followed. */
export interface FollowedList<Caller> {
  /** Its name, which is that of its table in `installSql`. */
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
  /**
   * Callers of whom this gives the same text see the same items, so that what is read for one of them is shown to all. Without
   * it each credential has its items read for itself.
   */
  rights?(caller: Caller): string;
  /** The items with these ids that are in the list and that the caller may see, as JSON text. */
  items(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string>>;
  /** The records behind an id, in the order of ids; each is an item as JSON text. */
  records(sql: Queries, slice: Slice): Promise<readonly { id: string; json: string }[]>;
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
  /** Streams of events that the process holds open; 1,000 unless given. */
  maxStreams?: number;
  /** Parameter names are matched without regard to case. */
  anyCaseQuery?: boolean;
}

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
