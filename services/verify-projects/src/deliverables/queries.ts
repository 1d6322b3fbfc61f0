import type { JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import { andOf, type Clients } from '../reader.ts';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

/** The parameters of a deliverable's path: `id` is that of its project. */
interface Place {
  id: string;
  deliverable_id: string;
}

/** All deliverables of a project, oldest first; undefined if the clients have no such project. */
export const findDeliverables = async (
  sql: Queries,
  projectId: string,
  clients: Clients,
): Promise<string[] | undefined> => {
  const rows = await sql<{ json: string | null }[]>`
    select deliverables.json from projects left join deliverables on project_id = projects.id
    where projects.id = ${projectId} ${andOf(sql, clients)} order by deliverables.id`;
  return rows.length === 0 ? undefined : rows.flatMap(({ json }) => json ?? []);
};

/** One of a project that the clients have. `lock` locks the project, and then the deliverable, for other writers until the transaction ends. */
export const findDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: Place,
  { clients, lock }: { clients: Clients; lock: boolean },
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select deliverables.json from projects join deliverables on project_id = projects.id
    where projects.id = ${projectId} and deliverables.id = ${id} ${andOf(sql, clients)}
    ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** The start of a statement: gives a project that is locked a new updated_at (docs/adr/0050). */
const touch = (sql: Queries, projectId: string) => sql`
  with project as (
    update projects set updated_at = at from next_updated_at() as at where projects.id = ${projectId}
    returning projects.updated_at)`;

/** All of a project are one page. */
export const maxDeliverables = 1000;

/** Locks a project for other writers until the transaction ends; undefined if it does not exist. */
export const lockTargets = async (sql: Queries, projectId: string): Promise<string[] | undefined> => {
  const [row] = await sql<{ target_languages: string[] }[]>`
    select target_languages from projects where id = ${projectId} for update`;
  return row?.target_languages;
};

/**
 * Adds a deliverable to a project that is locked; undefined if it has the most that it may have. The id is of the database,
 * so that its clock orders deliverables.
 */
export const insertDeliverable = async (
  sql: Queries,
  projectId: string,
  input: DeliverableInput,
): Promise<Stored | undefined> => {
  const { language, type, status, name = null, file_url = null, assignee = null } = input;
  const { due_at = null, delivered_at = null } = input;
  const [row] = await sql<Stored[]>`
    with project as (
      update projects set updated_at = next_updated_at() where id = ${projectId} and not exists (
        select from deliverables where project_id = ${projectId} offset ${maxDeliverables - 1} limit 1)
      returning projects.updated_at, projects.client)
    insert into deliverables
      (project_id, id, client, name, language, type, status, file_url, assignee, due_at, delivered_at, updated_at)
    select ${projectId}, uuidv7(), project.client, ${name}, ${language}, ${type}, ${status}, ${file_url}, ${assignee}, ${due_at},
      coalesce(${delivered_at}, case ${status} when 'delivered' then updated_at end), updated_at from project
    returning id, json`;
  return row;
};

/** Changes a deliverable that is locked. One that becomes delivered was delivered now, unless the patch has another time. */
export const updateDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: Place,
  patch: DeliverablePatch,
): Promise<string> => {
  const delivered_at = sql`case status when 'delivered' then delivered_at else project.updated_at end`;
  const values: Record<string, unknown> = patch.status === 'delivered' ? { delivered_at, ...patch } : patch;
  const [row] = await sql<[JsonRow]>`
    ${touch(sql, projectId)}
    update deliverables set ${sql(values)}, updated_at = project.updated_at, version = version + 1
    from project where project_id = ${projectId} and id = ${id}
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
