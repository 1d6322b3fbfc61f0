import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import type { Database } from '@platform/service-kit/db';
import type { Sql } from 'postgres';
import type { ProjectInput, ProjectPatch } from './schema.ts';

/** A row as it goes over the wire: PostgreSQL writes the JSON, nothing here reads it. */
interface Written {
  json: string;
}

const shape = (sql: Sql) => sql`
  json_build_object(
    'id', id, 'name', name, 'status', status,
    'source_language', source_language, 'target_languages', target_languages,
    'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as json`;

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
  const where = sql`true
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${modified_after === undefined ? sql`` : sql`and updated_at >= ${modified_after}`}`;
  const rows = await sql<Written[]>`
    with page as materialized (
      select id from projects where ${where} order by updated_at, id offset ${String(offset)} limit ${limit + 1})
    select ${shape(sql)} from page join projects using (id) order by updated_at, id`;
  return slice(
    rows.map(({ json }) => json),
    limit,
  );
};

export const insertProject = async (
  { sql }: Database,
  id: string,
  project: ProjectInput,
): Promise<string> => {
  const { name, status, source_language, target_languages } = project;
  const [row] = await sql<[Written]>`
    insert into projects
    select ${id}, ${name}, ${status}, ${source_language}, ${target_languages}, at, at from take_stamp() as at
    returning ${shape(sql)}`;
  return row.json;
};

/** Undefined when there is no such project; so below. */
export const updateProject = async (
  { sql }: Database,
  id: string,
  patch: ProjectPatch,
): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    update projects set ${sql(patch)}, updated_at = at from take_stamp() as at where id = ${id}
    returning ${shape(sql)}`;
  return row?.json;
};

/** Its deliverables go with it. False when there was none. */
export const deleteProject = async ({ sql }: Database, id: string): Promise<boolean> => {
  const { count } = await sql`delete from projects where id = ${id}`;
  return count > 0;
};
