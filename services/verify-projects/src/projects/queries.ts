import { readSlice } from '@platform/pagination/directory';
import { slice, type Page, type Slice } from '@platform/pagination/list';
import type { JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { ISql, PendingQuery, Row, Sql } from 'postgres';
import { v7 } from 'uuid';
import { projectDirectory } from '../db/directory.ts';
import { deliverableStatuses, projectStatuses } from '../db/tables.ts';
import { andClients, type Clients } from '../reader.ts';
import type { ProjectInput, ProjectPatch, ProjectQuery } from './schema.ts';

/** One page in the order of updated_at and id. */
export const findProjects = async (
  sql: Sql,
  { offset, limit }: Page,
  { status, modified_after }: ProjectQuery,
): Promise<Slice<string>> => {
  const { items, hasMore } = await readSlice<JsonRow>(sql, projectDirectory, {
    columns: 'item.json',
    ...(status === undefined ? {} : { filter: { column: 'status', value: status } }),
    ...(modified_after === undefined ? {} : { since: modified_after }),
    offset,
    limit,
  });
  return { items: items.map(({ json }) => json), hasMore };
};

/** One page of the projects of some clients. Reads the index entries of all earlier pages, and the rows of one page. */
export const findProjectsOf = async (
  sql: ISql,
  clients: readonly string[],
  { offset, limit }: Page,
  { status, modified_after = '-infinity' }: ProjectQuery,
): Promise<Slice<string>> => {
  const end = String(offset + BigInt(limit) + 1n);
  const rows = await sql<JsonRow[]>`
    select json from (
      select entry.id, entry.updated_at
      from unnest(${clients}::text[]) owner, unnest(${status ? [status] : projectStatuses}::text[]) state, lateral (
        select id, updated_at from projects
        where client = owner and status = state and updated_at >= ${modified_after}
        order by updated_at, id limit ${end}) entry
      order by entry.updated_at, entry.id offset ${String(offset)} limit ${limit + 1}) page
    join projects using (id) order by page.updated_at, id`;
  const { items, hasMore } = slice(rows, limit);
  return { items: items.map(({ json }) => json), hasMore };
};

const counts = deliverableStatuses.map((name) => `count(*) filter (where status = '${name}') as ${name}`);

/** SQL that selects a project as `json`, with its deliverables by status. */
const details = (sql: Queries): PendingQuery<Row[]> => sql`
  left(json, -1) || ',"deliverables_by_status":' || (
    select to_json(counts) from (
      select ${sql.unsafe(counts.join(', '))} from deliverables where project_id = projects.id) counts
  ) || '}' as json`;

export const insertProject = async (sql: Queries, project: ProjectInput): Promise<Stored> => {
  const { name, client = null, status, source_language, target_languages, due_at = null } = project;
  const id = v7();
  const [row] = await sql<[JsonRow]>`
    insert into projects
      (id, name, client, status, source_language, target_languages, due_at, created_at, updated_at, archived_at)
    select ${id}, ${name}, ${client}, ${status}, ${source_language}, ${target_languages}, ${due_at}, at, at,
      case ${status} when 'archived' then at end
    from next_updated_at() as at
    returning ${details(sql)}`;
  return { id, json: row.json };
};

/** A project of the clients. `lock` locks it for other writers until the transaction ends. */
export const findProject = async (
  sql: Queries,
  { id, clients, lock }: { id: string; clients: Clients; lock: boolean },
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select ${details(sql)} from projects where id = ${id} ${andClients(sql, clients)} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** The languages of the deliverables of a project. */
export const findLanguagesOf = async (sql: Queries, id: string): Promise<string[]> => {
  const rows = await sql<{ language: string }[]>`
    select distinct language from deliverables where project_id = ${id} order by language`;
  return rows.map(({ language }) => language);
};

/** Changes a project that is locked (docs/adr/0050). */
export const updateProject = async (sql: Queries, id: string, patch: ProjectPatch): Promise<string> => {
  const { client } = patch;
  if (client !== undefined)
    await sql`update deliverables set client = ${client} where project_id = ${id} and client is distinct from ${client}`;
  const [row] = await sql<[JsonRow]>`
    update projects set ${sql(patch)}, updated_at = at, version = version + 1,
      archived_at = case coalesce(${patch.status ?? null}, status) when 'archived' then coalesce(archived_at, at) end
    from next_updated_at() as at where id = ${id}
    returning ${details(sql)}`;
  return row.json;
};

/** Deletes a project with its deliverables. Returns false if `archivedDays` is set and it was not archived that long ago. */
export const deleteProject = async (sql: Queries, id: string, archivedDays?: number): Promise<boolean> => {
  const { count } = await sql`
    delete from projects
    where id = ${id} and (${archivedDays === undefined} or archived_at <= now() - make_interval(days => ${archivedDays ?? 0}))`;
  return count > 0;
};
