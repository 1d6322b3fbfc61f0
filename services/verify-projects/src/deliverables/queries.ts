import type { Database } from '@platform/service-kit/db';
import type { Sql } from 'postgres';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

/** Primary key of a deliverable. */
export interface Place {
  projectId: string;
  id: string;
}

/** A row as JSON text, which is sent as it is. */
interface JsonRow {
  json: string;
}

/** All deliverables of a project, oldest first; undefined if the project does not exist. */
export const findDeliverables = async (
  { sql }: Database,
  projectId: string,
): Promise<string[] | undefined> => {
  const rows = await sql<{ json: string | null }[]>`
    select deliverables.json from projects left join deliverables on project_id = projects.id
    where projects.id = ${projectId} order by deliverables.id`;
  return rows.length === 0 ? undefined : rows.flatMap(({ json }) => json ?? []);
};

/** Undefined if the deliverable does not exist. */
export const findDeliverable = async (
  { sql }: Database,
  { projectId, id }: Place,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select json from deliverables where project_id = ${projectId} and id = ${id}`;
  return row?.json;
};

/** The start of a statement: gives the project a new updated_at if the deliverable exists. */
const touch = (sql: Sql, { projectId, id }: Place) => sql`
  with project as (
    update projects set updated_at = at from next_updated_at() as at
    where projects.id = ${projectId}
      and exists (select from deliverables where project_id = ${projectId} and deliverables.id = ${id})
    returning projects.updated_at)`;

/** Undefined if the project does not exist. The id is of the database, so that its clock orders deliverables. */
export const insertDeliverable = async (
  { sql }: Database,
  projectId: string,
  { language, type, status, due_at }: DeliverableInput,
): Promise<(JsonRow & { id: string }) | undefined> => {
  const [row] = await sql<(JsonRow & { id: string })[]>`
    with project as (
      update projects set updated_at = at from next_updated_at() as at where id = ${projectId} returning updated_at)
    insert into deliverables
    select ${projectId}, uuidv7(), ${language}, ${type}, ${status}, ${due_at}, updated_at from project
    returning id, json`;
  return row;
};

/** Undefined if the deliverable does not exist. */
export const updateDeliverable = async (
  { sql }: Database,
  place: Place,
  patch: DeliverablePatch,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    ${touch(sql, place)}
    update deliverables set ${sql(patch)}, updated_at = project.updated_at from project
    where project_id = ${place.projectId} and id = ${place.id}
    returning json`;
  return row?.json;
};

/** False if it did not exist. */
export const deleteDeliverable = async ({ sql }: Database, place: Place): Promise<boolean> => {
  const { count } = await sql`
    ${touch(sql, place)}
    delete from deliverables using project where project_id = ${place.projectId} and id = ${place.id}`;
  return count > 0;
};
