import { ormOf, type Executor } from '@platform/service-kit/db';
import type { Queries } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { StorePath } from '../stores/routes.ts';

/** The address of a single record: `GET /v1/stores/{storeId}/<path>/{…}`. */
export interface SingleRecord {
  /** Name of the record in messages, such as `delivery job`, for which the operation id is `getDeliveryJob`. */
  name: string;
  summary: string;
  /** The fields that identify it, by path parameter. */
  key: Record<string, string>;
  /** Schemas of these parameters; default: text. */
  params?: z.ZodRawShape;
  /**
   * Optional query parameters, named like fields, that narrow the look-up, with an example of each. If several records match,
   * the one that changed last is returned.
   */
  narrowBy?: Record<string, string>;
  /** Declares its operations if callers may do more than read it. */
  operations?(readable: ReturnType<typeof readableRecord>, context: Context): Route[];
}

interface ReadableRecord extends Omit<SingleRecord, 'operations'> {
  path: string;
  tag: string;
  scope: Parameters<typeof allow>[1];
  schema: z.ZodObject;
  /** Finds the item of a store with these field values; null if there is none. */
  find(db: Executor, storeId: string, values: Record<string, string>, lock: boolean): Promise<object | null>;
}

interface Target {
  params: object;
  query?: object | undefined;
}

/** Maps the values of an object. */
export const mapValues = <T, U>(
  values: Record<string, T>,
  change: (value: T, name: string) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

/** The options of `record()` for a record of a store that callers may read. */
export const readableRecord = (
  context: Context,
  { path, key, params, narrowBy = {}, scope, find, ...options }: ReadableRecord,
) => {
  const { database } = context;
  const parents = Object.keys(key).slice(0, -1);
  return {
    ...options,
    path: ['/v1/stores/{storeId}', path, ...parents.map((parameter) => `{${parameter}}`)].join('/'),
    basePath: '',
    params: StorePath.extend({ ...mapValues(key, () => text(1, 200)), ...params }),
    readQuery: z.strictObject(
      mapValues(narrowBy, (example) =>
        text(0, 100).optional().meta({ description: 'Only the one of this provider', example }),
      ),
    ),
    read: allow(context, scope),
    write: allow(context, 'stores:write'),
    sql: database.sql,
    find: async (sql: Queries, target: Target, lock: boolean) => {
      const { storeId: id = '', ...ids } = target.params as Record<string, string>;
      const values = Object.entries(ids).map(([parameter, value]) => [key[parameter], value]);
      const fields = { ...Object.fromEntries(values), ...target.query } as Record<string, string>;
      const view = await find(ormOf(sql, database), id, fields, lock);
      return view === null ? undefined : JSON.stringify(view);
    },
  };
};
