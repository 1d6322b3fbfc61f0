import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from './context.ts';
import { Deliverable } from './deliverables/schema.ts';
import { languages } from './languages/queries.ts';
import { Language } from './languages/schema.ts';
import { Project } from './projects/schema.ts';
import { clientsOf, type Reader } from './reader.ts';

const uuidLength = 36;

interface Listed extends Pick<FollowedList<Reader>, 'list' | 'name' | 'tag' | 'item'> {
  /** SQL expressions: the id, and the item as `json`. */
  id: string;
  json: string;
  /** Whether each record belongs to a client. */
  isOwned: boolean;
}

const lists: readonly Listed[] = [
  {
    list: 'projects',
    name: 'project',
    tag: 'Projects',
    item: Project,
    id: 'id',
    json: 'json',
    isOwned: true,
  },
  {
    list: 'deliverables',
    name: 'deliverable',
    tag: 'Deliverables',
    item: Deliverable,
    id: 'id',
    json: 'json',
    isOwned: true,
  },
  {
    list: 'languages',
    name: 'language',
    tag: 'Languages',
    item: Language,
    id: 'code',
    json: languages.json,
    isOwned: false,
  },
];

type Row = { id: string; json: string };

/** The routes that export and follow the lists and subscribe to them; each reader sees the records of its clients. */
export const feedRoutes = ({ follow, reader: auth, subscriber, subscriptions }: Context): Route[] => {
  const followed = lists.map(({ id, json, isOwned, ...listInfo }): FollowedList<Reader> => {
    const { list } = listInfo;
    return {
      ...listInfo,
      auth,
      owners: (_filter, caller) => (isOwned ? clientsOf(caller) : undefined),
      rights: (caller) => JSON.stringify(clientsOf(caller) ?? null),
      // Only these are measured: their JSON is stored, and a project may have 200 languages.
      ...(isOwned && {
        bytes: async (sql, ids) => {
          const rows = await sql<{ id: string; bytes: number }[]>`
            select id, octet_length(json) as bytes from ${sql(list)} where id = any(${ids as string[]})`;
          return new Map(rows.map((row) => [row.id, row.bytes]));
        },
      }),
      items: async (sql, ids, caller) => {
        const clients = isOwned ? clientsOf(caller) : undefined;
        const rows = await sql<Row[]>`
          select ${sql.unsafe(`${id} as id, ${json} from ${list} where ${id}`)} = any(${ids as string[]})
          ${clients ? sql`and client = any(${clients})` : sql``}`;
        return new Map(rows.map((row) => [row.id, row.json]));
      },
      records: (sql, { after, owners, limit }) => {
        const columns = sql.unsafe(json);
        if (owners === undefined)
          return sql<Row[]>`
            select ${sql.unsafe(`${id} as id`)}, ${columns} from ${sql(list)} where ${sql(id)} > ${after}
            order by ${sql(id)} limit ${limit}`;
        // In the order of the index on the client: the order of ids would read the records of all clients.
        return sql<Row[]>`
          select id || client as id, ${columns} from ${sql(list)}
          where client = any(${owners as string[]}) and (client, id) > (${after.slice(uuidLength)}, ${after.slice(0, uuidLength)}::uuid)
          order by client, id limit ${limit}`;
      },
    };
  });
  for (const list of followed) subscriptions.offer({ ...list, auth: subscriber });
  return [...followed.flatMap(follow), ...subscriptions.routes()];
};
