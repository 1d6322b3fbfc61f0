import type { Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { JsonRow } from '@platform/service-kit/json-table';
import type { Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import { isVisible, visibleClients } from '../clients.ts';
import type { Context } from '../context.ts';
import { clientFields } from '../db/client-fields.ts';

type Row = JsonRow & { id: string };

interface Listed extends Pick<FollowedList<Caller>, 'list' | 'name' | 'tag' | 'item'> {
  /** SQL that selects a row as `json`. */
  json: string;
  filters: Readonly<Record<string, z.ZodType>>;
}

/** The routes that export and follow a list, and offer it for subscriptions. */
export const followRoutes = (context: Context, { json, filters, ...listInfo }: Listed): Route[] => {
  const { list } = listInfo;
  const { filter: filterName = '', column: owner } = clientFields[list] ?? {};
  const filter = filters[filterName] as z.ZodType<string | undefined> | undefined;
  const followed: FollowedList<Caller> = {
    ...listInfo,
    auth: context.reader,
    ...(filter && { filter: [filterName, filter] }),
    owners: (client, caller) => (owner === undefined ? undefined : visibleClients(client, caller)),
    rights: ({ clients }) => JSON.stringify(clients ? [...clients] : null),
    items: async (sql, ids, caller) => {
      const rows = await sql<Row[]>`
        select id, ${sql.unsafe(json)} from ${sql(list)} where id = any(${ids as string[]}::uuid[])`;
      const visible = rows.filter((row) => isVisible(list, row.json, caller));
      return new Map(visible.map((row) => [row.id, row.json]));
    },
    records: (sql, { after, owners, limit }) => {
      const record = sql`${sql.unsafe(json)} from ${sql(list)}`;
      if (owners === undefined || owner === undefined)
        return sql<Row[]>`select id, ${record} where id > ${after} order by id limit ${limit}`;
      // In the order of an index on the owner: the order of ids would need a sort for each page.
      const order = sql([owner, 'created_at', 'id'].map((column) => `${list}.${column}`));
      const [first = '', createdAt = '-infinity', id = first] = after.split('|');
      return sql<Row[]>`
        select concat_ws('|', ${order}) as id, ${record}
        where ${sql(owner)} = any(${owners as string[]}::uuid[]) and (${order}) > (${first}::uuid, ${createdAt}::timestamptz, ${id}::uuid)
        order by ${order} limit ${limit}`;
    },
  };
  context.subscriptions.offer(followed);
  return context.follow(followed);
};
