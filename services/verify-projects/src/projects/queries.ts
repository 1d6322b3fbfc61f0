import { readSlice } from '@platform/pagination/directory';
import { type Page, type Slice } from '@platform/pagination/list';
import type { Database } from '@platform/service-kit/db';
import { projectDirectory } from '../db/directory.ts';
import type { ProjectInput, ProjectPatch } from './schema.ts';

/** A row as JSON text, which is sent as it is. */
interface JsonRow {
  json: string;
}

export interface Filter {
  status?: string | undefined;
  modified_after?: string | undefined;
}

/** One page in the order of updated_at and id. */
export const findProjects = async (
  { sql }: Database,
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

export const insertProject = async (
  { sql }: Database,
  id: string,
  project: ProjectInput,
): Promise<string> => {
  const { name, status, source_language, target_languages } = project;
  const [row] = await sql<[JsonRow]>`
    insert into projects
    select ${id}, ${name}, ${status}, ${source_language}, ${target_languages}, at, at from next_updated_at() as at
    returning json`;
  return row.json;
};

/** Undefined if the project does not exist. */
export const findProject = async ({ sql }: Database, id: string): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`select json from projects where id = ${id}`;
  return row?.json;
};

/** Undefined if the project does not exist. */
export const updateProject = async (
  { sql }: Database,
  id: string,
  patch: ProjectPatch,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    update projects set ${sql(patch)}, updated_at = at from next_updated_at() as at where id = ${id}
    returning json`;
  return row?.json;
};

/** Deletes its deliverables as well. False if the project did not exist. */
export const deleteProject = async ({ sql }: Database, id: string): Promise<boolean> => {
  const { count } = await sql`delete from projects where id = ${id}`;
  return count > 0;
};
