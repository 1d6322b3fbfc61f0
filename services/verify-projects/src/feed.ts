import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from './context.ts';
import { Deliverable } from './deliverables/schema.ts';
import { languages } from './languages/queries.ts';
import { Language } from './languages/schema.ts';
import { Project } from './projects/schema.ts';
import { andClients, clientsOf, type Reader } from './reader.ts';

interface Listed extends Pick<FollowedList<Reader>, 'list' | 'name' | 'tag' | 'item'> {
  /** SQL expressions: the id, the item as `json`, and the tables. */
  id: string;
  json: string;
  from: string;
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
    from: 'projects',
    isOwned: true,
  },
  {
    list: 'deliverables',
    name: 'deliverable',
    tag: 'Deliverables',
    item: Deliverable,
    id: 'deliverables.id',
    json: 'deliverables.json',
    isOwned: true,
    from: 'deliverables join projects on project_id = projects.id',
  },
  {
    list: 'languages',
    name: 'language',
    tag: 'Languages',
    item: Language,
    id: 'code',
    json: languages.json,
    from: 'languages',
    isOwned: false,
  },
];

type Row = { id: string; json: string };

/** The routes that export and follow the lists and subscribe to them; each reader sees the records of its clients. */
export const feedRoutes = ({ follow, reader: auth, subscriber, subscriptions }: Context): Route[] => {
  const followed = lists.map(({ id, json, from, isOwned, ...listInfo }): FollowedList<Reader> => ({
    ...listInfo,
    auth,
    owners: (_filter, caller) => (isOwned ? clientsOf(caller) : undefined),
    rights: (caller) => JSON.stringify(clientsOf(caller) ?? null),
    // Only these are measured: their JSON is stored, and a project may have 200 languages.
    ...(isOwned && {
      bytes: async (sql, ids) => {
        const rows = await sql<{ id: string; bytes: number }[]>`
          select ${sql.unsafe(`${id} as id, octet_length(${json}) as bytes from ${from} where ${id}`)} = any(${ids as string[]})`;
        return new Map(rows.map((row) => [row.id, row.bytes]));
      },
    }),
    items: async (sql, ids, caller) => {
      const rows = await sql<Row[]>`
          select ${sql.unsafe(`${id} as id, ${json} from ${from} where ${id}`)} = any(${ids as string[]})
          ${isOwned ? andClients(sql, clientsOf(caller)) : sql``}`;
      return new Map(rows.map((row) => [row.id, row.json]));
    },
    records: (sql, { after, owners, limit }) => sql<Row[]>`
        select ${sql.unsafe(`${id} as id, ${json} from ${from} where ${id}`)} > ${after} ${andClients(sql, owners)}
        order by ${sql.unsafe(id)} limit ${limit}`,
  }));
  for (const list of followed) subscriptions.offer({ ...list, auth: subscriber });
  return [...followed.flatMap(follow), ...subscriptions.routes()];
};
