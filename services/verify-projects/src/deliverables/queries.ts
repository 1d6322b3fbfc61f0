import type { JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

/** The parameters of a deliverable's path: `id` is that of its project. */
interface Place {
  id: string;
  deliverable_id: string;
}

/** All deliverables of a project, oldest first; undefined if the project does not exist. */
export const findDeliverables = async (sql: Queries, projectId: string): Promise<string[] | undefined> => {
  const rows = await sql<{ json: string | null }[]>`
    select deliverables.json from projects left join deliverables on project_id = projects.id
    where projects.id = ${projectId} order by deliverables.id`;
  return rows.length === 0 ? undefined : rows.flatMap(({ json }) => json ?? []);
};

/** `lock` locks the project, and then the deliverable, for other writers until the transaction ends. */
export const findDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: Place,
  lock: boolean,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select deliverables.json from projects join deliverables on project_id = projects.id
    where projects.id = ${projectId} and deliverables.id = ${id} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** The start of a statement: gives a project that is locked a new updated_at (docs/adr/0050). */
const touch = (sql: Queries, projectId: string) => sql`
  with project as (
    update projects set updated_at = at from next_updated_at() as at where projects.id = ${projectId}
    returning projects.updated_at)`;

/** All of a project are one page. */
export const maxDeliverables = 1000;

/** Locks a project for other writers until the transaction ends, and says whether it exists. */
export const lockProject = async (sql: Queries, projectId: string): Promise<boolean> => {
  const { count } = await sql`select from projects where id = ${projectId} for update`;
  return count > 0;
};

/**
 * Adds a deliverable to a project that is locked; undefined if it has the most that it may have. The id is of the database,
 * so that its clock orders deliverables.
 */
export const insertDeliverable = async (
  sql: Queries,
  projectId: string,
  { language, type, status, due_at }: DeliverableInput,
): Promise<Stored | undefined> => {
  const [row] = await sql<Stored[]>`
    with project as (
      update projects set updated_at = next_updated_at() where id = ${projectId} and not exists (
        select from deliverables where project_id = ${projectId} offset ${maxDeliverables - 1} limit 1)
      returning projects.updated_at)
    insert into deliverables (project_id, id, language, type, status, due_at, updated_at)
    select ${projectId}, uuidv7(), ${language}, ${type}, ${status}, ${due_at}, updated_at from project
    returning id, json`;
  return row;
};

/** Changes a deliverable that is locked. */
export const updateDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: Place,
  patch: DeliverablePatch,
): Promise<string> => {
  const [row] = await sql<[JsonRow]>`
    ${touch(sql, projectId)}
    update deliverables set ${sql(patch)}, updated_at = project.updated_at from project
    where project_id = ${projectId} and id = ${id}
    returning json`;
  return row.json;
};

/** Deletes a deliverable that is locked. */
export const deleteDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: Place,
): Promise<void> => {
  await sql`
    ${touch(sql, projectId)}
    delete from deliverables using project where project_id = ${projectId} and id = ${id}`;
};
