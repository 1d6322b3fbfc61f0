import type { Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { JsonRow } from '@platform/service-kit/json-table';
import type { Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import { clientFilterOf, clientsOf, isVisible } from '../clients.ts';
import type { Context } from '../context.ts';
import { clientColumnOf } from '../db/client-fields.ts';

type Row = JsonRow & { id: string };

interface Listed extends Pick<FollowedList<Caller>, 'list' | 'name' | 'tag' | 'item'> {
  /** SQL that selects a row as `json`. */
  json: string;
  filters: Readonly<Record<string, z.ZodType>>;
}

/** The routes by which a list is exported and followed. */
export const followRoutes = (context: Context, { json, filters, ...about }: Listed): Route[] => {
  const { list } = about;
  const client = clientFilterOf(list);
  const filter = client && (filters[client] as z.ZodType<string | undefined> | undefined);
  const owner = clientColumnOf(list);
  const followed: FollowedList<Caller> = {
    ...about,
    auth: context.reader,
    ...(client && filter && { filter: [client, filter] }),
    owners: (asked, caller) => (owner === undefined ? undefined : clientsOf(asked, caller)),
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
      // In the order of an index on the owner: that of ids would be sorted anew for each page.
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
