import { readSlice } from '@platform/pagination/directory';
import { type Page, type Slice } from '@platform/pagination/list';
import type { JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import { projectDirectory } from '../db/directory.ts';
import type { ProjectInput, ProjectPatch } from './schema.ts';

interface Filter {
  status?: string | undefined;
  modified_after?: string | undefined;
}

/** One page in the order of updated_at and id. */
export const findProjects = async (
  sql: Sql,
  { offset, limit }: Page,
  { status, modified_after }: Filter,
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

export const insertProject = async (sql: Queries, project: ProjectInput): Promise<Stored> => {
  const { name, status, source_language, target_languages } = project;
  const id = v7();
  const [row] = await sql<[JsonRow]>`
    insert into projects
      (id, name, status, source_language, target_languages, created_at, updated_at, archived_at)
    select ${id}, ${name}, ${status}, ${source_language}, ${target_languages}, at, at,
      case ${status} when 'archived' then at end
    from next_updated_at() as at
    returning json`;
  return { id, json: row.json };
};

/** `lock` locks the project for other writers until the transaction ends. */
export const findProject = async (sql: Queries, id: string, lock: boolean): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select json from projects where id = ${id} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** Changes a project that is locked (docs/adr/0050). */
export const updateProject = async (sql: Queries, id: string, patch: ProjectPatch): Promise<string> => {
  const [row] = await sql<[JsonRow]>`
    update projects set ${sql(patch)}, updated_at = at,
      archived_at = case coalesce(${patch.status ?? null}, status) when 'archived' then coalesce(archived_at, at) end
    from next_updated_at() as at where id = ${id}
    returning json`;
  return row.json;
};

/** Deletes its deliverables as well. False, and nothing is deleted, if it was not archived so long ago. */
export const deleteProject = async (sql: Queries, id: string, archivedDays: number): Promise<boolean> => {
  const { count } = await sql`
    delete from projects
    where id = ${id} and (${archivedDays} = 0 or archived_at <= now() - make_interval(days => ${archivedDays}))`;
  return count > 0;
};
