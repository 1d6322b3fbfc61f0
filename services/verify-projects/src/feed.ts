import type { FollowedList } from '@platform/feed';
import type { Queries } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { PendingQuery, Row } from 'postgres';
import type { Context } from './context.ts';
import { Deliverable } from './deliverables/schema.ts';
import { languages } from './languages/queries.ts';
import { Language } from './languages/schema.ts';
import { Project } from './projects/schema.ts';
import { andOf, clientsOf, type Reader } from './reader.ts';

interface ItemRow {
  id: string;
  json: string;
}

/** SQL that selects items with these ids. */
type ItemsQuery = (
  sql: Queries,
  ids: readonly string[],
  ofClients: PendingQuery<Row[]>,
) => PendingQuery<ItemRow[]>;

/** The routes by which readers follow the lists; each sees the records of its clients, as in the lists. */
export const feedRoutes = ({ follow, reader: auth }: Context): Route[] => {
  const followed = (
    spec: Pick<FollowedList<Reader>, 'list' | 'name' | 'tag' | 'item'>,
    select: ItemsQuery,
    isOwned = true,
  ): Route =>
    follow<Reader>({
      ...spec,
      auth,
      owners: (_asked, caller) => (isOwned ? clientsOf(caller) : undefined),
      items: async (sql, ids, caller) => {
        const rows = await select(sql, ids, andOf(sql, clientsOf(caller)));
        return new Map(rows.map(({ id, json }) => [id, json]));
      },
    });
  return [
    followed(
      { list: 'projects', name: 'project', tag: 'Projects', item: Project },
      (sql, ids, ofClients) => sql`select id, json from projects where id = any(${ids}::uuid[]) ${ofClients}`,
    ),
    followed(
      { list: 'deliverables', name: 'deliverable', tag: 'Deliverables', item: Deliverable },
      (sql, ids, ofClients) => sql`
        select deliverables.id, deliverables.json from deliverables join projects on project_id = projects.id
        where deliverables.id = any(${ids}::uuid[]) ${ofClients}`,
    ),
    followed(
      { list: 'languages', name: 'language', tag: 'Languages', item: Language },
      (sql, ids) => sql`
        select code as id, ${sql.unsafe(languages.json)} from languages where code = any(${ids}::text[])`,
      false,
    ),
  ];
};
