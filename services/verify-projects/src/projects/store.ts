import { readSlice } from '@platform/pagination/directory';
import type { Page } from '@platform/pagination/page-limit';
import type { Slice } from '@platform/pagination/slice';
import type { Database } from '@platform/service-kit/db';
import { projectDirectory } from '../db/directory.ts';
import type { ProjectInput, ProjectPatch } from './schema.ts';

/** A row as it goes over the wire: JSON text, which nothing here reads. */
interface Wired {
  wire: string;
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
  const { items, hasMore } = await readSlice<Wired>(sql, projectDirectory, {
    columns: 'item.wire',
    ...(status === undefined ? {} : { filter: { column: 'status', value: status } }),
    ...(modified_after === undefined ? {} : { since: modified_after }),
    offset,
    limit,
  });
  return { items: items.map(({ wire }) => wire), hasMore };
};

export const insertProject = async (
  { sql }: Database,
  id: string,
  project: ProjectInput,
): Promise<string> => {
  const { name, status, source_language, target_languages } = project;
  const [row] = await sql<[Wired]>`
    insert into projects
    select ${id}, ${name}, ${status}, ${source_language}, ${target_languages}, at, at from take_stamp() as at
    returning wire`;
  return row.wire;
};

/** Undefined if the project does not exist. */
export const findProject = async ({ sql }: Database, id: string): Promise<string | undefined> => {
  const [row] = await sql<Wired[]>`select wire from projects where id = ${id}`;
  return row?.wire;
};

/** Undefined if the project does not exist. */
export const updateProject = async (
  { sql }: Database,
  id: string,
  patch: ProjectPatch,
): Promise<string | undefined> => {
  const [row] = await sql<Wired[]>`
    update projects set ${sql(patch)}, updated_at = at from take_stamp() as at where id = ${id}
    returning wire`;
  return row?.wire;
};

/** Its deliverables go with it. False when there was none. */
export const deleteProject = async ({ sql }: Database, id: string): Promise<boolean> => {
  const { count } = await sql`delete from projects where id = ${id}`;
  return count > 0;
};
