import type { Database } from '@platform/service-kit/db';
import type { Sql } from 'postgres';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

/** Where a deliverable is. */
export interface Place {
  projectId: string;
  id: string;
}

/** A row as it goes over the wire. */
interface Written {
  json: string;
}

const shape = (sql: Sql) => sql`
  json_build_object(
    'id', deliverables.id, 'project_id', project_id, 'language', language, 'type', type, 'status', deliverables.status,
    'due_at', to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(deliverables.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as json`;

/** All of a project's, the oldest first; undefined when there is no such project. */
export const findDeliverables = async (
  { sql }: Database,
  projectId: string,
): Promise<string[] | undefined> => {
  const rows = await sql<(Written & { known: boolean })[]>`
    select deliverables.id is not null as known, ${shape(sql)}
    from projects left join deliverables on project_id = projects.id
    where projects.id = ${projectId} order by deliverables.id`;
  return rows.length === 0 ? undefined : rows.filter(({ known }) => known).map(({ json }) => json);
};

/** The project gets a new updated_at where the deliverable exists; the statement goes on with it. */
const touch = (sql: Sql, { projectId, id }: Place) => sql`
  with project as (
    update projects set updated_at = at from take_stamp() as at
    where projects.id = ${projectId}
      and exists (select from deliverables where project_id = ${projectId} and deliverables.id = ${id})
    returning projects.updated_at)`;

/** Undefined when there is no such project. */
export const insertDeliverable = async (
  { sql }: Database,
  { projectId, id }: Place,
  { language, type, status, due_at }: DeliverableInput,
): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    with project as (
      update projects set updated_at = at from take_stamp() as at where id = ${projectId} returning updated_at)
    insert into deliverables
    select ${projectId}, ${id}, ${language}, ${type}, ${status}, ${due_at}, updated_at from project
    returning ${shape(sql)}`;
  return row?.json;
};

/** Undefined when there is no such deliverable. */
export const updateDeliverable = async (
  { sql }: Database,
  place: Place,
  patch: DeliverablePatch,
): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    ${touch(sql, place)}
    update deliverables set ${sql(patch)}, updated_at = project.updated_at from project
    where project_id = ${place.projectId} and id = ${place.id}
    returning ${shape(sql)}`;
  return row?.json;
};

/** False when there was none. */
export const deleteDeliverable = async ({ sql }: Database, place: Place): Promise<boolean> => {
  const { count } = await sql`
    ${touch(sql, place)}
    delete from deliverables using project where project_id = ${place.projectId} and id = ${place.id}`;
  return count > 0;
};
