import { allowsId, type Caller } from '@platform/auth/bearer';
import { countWithin, maxBytes, type FollowedList } from '@platform/feed/followed-list';
import { ormOf } from '@platform/service-kit/db';
import type { Queries } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { and, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable, type SelectedFields } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { arrayOf } from '../db/sql.ts';

/** The properties of a list that its feed needs (see `declareList`). */
interface ListToFollow<Row> extends Pick<FollowedList<Caller>, 'list' | 'name' | 'tag'> {
  table: PgTable & { storeId: PgColumn };
  columns: SelectedFields;
  bytes: SQL<number> | undefined;
  scope: Parameters<typeof allow>[1];
  view: z.ZodObject;
  show(row: Row): object;
}

const storeFilter = z.uuid().toLowerCase().optional().meta({ description: 'Only records of this store' });

/** Splits an id into the values of the key, of which the first is the id of the store. Only the last value may contain a `/`. */
const keyOf = (id: string, { length }: readonly unknown[]): string[] => {
  const values = id.split('/');
  return [...values.slice(0, length - 1), values.slice(length - 1).join('/')];
};

/** Routes that export and follow a list, and a subscription to it. Items are as in the list of all stores. */
export const followRoutes = <Row>(
  context: Context,
  { table, columns, bytes, scope, view, show, ...description }: ListToFollow<Row>,
): Route[] => {
  const names = getTableConfig(table).primaryKeys.flatMap((primary) =>
    primary.columns.map(({ name }) => name),
  );
  const key = Object.values(getTableColumns(table)).filter(({ name }) => names.includes(name));
  const keyColumns = sql.join(key, sql`, `);
  const recordId = sql<string>`concat_ws('/', ${keyColumns})`.as('record_id');
  const read = async (on: Queries, where: SQL | undefined, limit: number) => {
    const rows = await ormOf(on, context.database)
      .select({ ...columns, recordId })
      .from(table)
      .where(where)
      .orderBy(...key)
      .limit(limit);
    return rows.map((row) => ({
      id: row['recordId'],
      json: JSON.stringify(view.parse(show(row as Row))),
    }));
  };
  const isOneOf = (ids: readonly string[]): SQL => {
    const keys = ids.map((id) => keyOf(id, key));
    const values = key.map(
      (column, index) =>
        sql`${arrayOf(keys.map((keyValues) => keyValues[index] ?? ''))}::text::${sql.raw(column.getSQLType())}[]`,
    );
    return sql`(${keyColumns}) in (select * from unnest(${sql.join(values, sql`, `)}))`;
  };
  const readBytes =
    bytes &&
    ((on: Queries, where: SQL | undefined, limit: number) =>
      ormOf(on, context.database)
        .select({ recordId, bytes })
        .from(table)
        .where(where)
        .orderBy(...key)
        .limit(limit));
  const followed: FollowedList<Caller> = {
    ...description,
    item: view,
    auth: allow(context, scope),
    filter: ['storeId', storeFilter],
    owners: (requested, { stores }) => {
      if (requested === undefined) return stores && [...stores];
      return allowsId(stores, requested) ? [requested] : [];
    },
    rights: ({ stores }) => JSON.stringify(stores ? [...stores] : null),
    items: async (on, ids, { stores }) => {
      const visible = ids.filter((id) => allowsId(stores, keyOf(id, key)[0] ?? ''));
      const rows = await read(on, isOneOf(visible), ids.length);
      return new Map(rows.map(({ id, json }) => [id, json]));
    },
    ...(readBytes && {
      bytes: async (on: Queries, ids: readonly string[]) =>
        new Map((await readBytes(on, isOneOf(ids), ids.length)).map((row) => [row.recordId, row.bytes])),
    }),
    records: async (on, { after, owners, limit }) => {
      // The first id of an export is the id of a store without a record.
      const values = keyOf(after, key);
      const last = key.map((_column, index) => sql`${values[index] || values[0]}`);
      const isLater = sql`(${keyColumns}) > (${sql.join(last, sql`, `)})`;
      const where = and(isLater, owners && inArray(table.storeId, [...owners]));
      if (readBytes === undefined) return read(on, where, limit);
      const sizes = (await readBytes(on, where, limit)).map((row) => row.bytes);
      return read(on, where, countWithin(sizes, maxBytes));
    },
  };
  context.subscriptions.offer(followed);
  return context.follow(followed);
};
