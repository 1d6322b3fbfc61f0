import type { JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import { andClients, type Clients } from '../reader.ts';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

/** The path parameters of a deliverable; `id` is the id of its project. */
interface DeliverableParams {
  id: string;
  deliverable_id: string;
}

/** All deliverables of a project, oldest first; undefined if there is no such project of the clients. */
export const findDeliverables = async (
  sql: Queries,
  projectId: string,
  clients: Clients,
): Promise<string[] | undefined> => {
  const rows = await sql<{ json: string | null }[]>`
    select deliverables.json from projects left join deliverables on project_id = projects.id
    where projects.id = ${projectId} ${andClients(sql, clients)} order by deliverables.id`;
  return rows.length === 0 ? undefined : rows.flatMap(({ json }) => json ?? []);
};

/** A deliverable of a project of the clients. `lock` locks the project, and then the deliverable, until the transaction ends. */
export const findDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: DeliverableParams,
  { clients, lock }: { clients: Clients; lock: boolean },
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select deliverables.json from projects join deliverables on project_id = projects.id
    where projects.id = ${projectId} and deliverables.id = ${id} ${andClients(sql, clients)}
    ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** The start of a statement: sets a new updated_at of a locked project (docs/adr/0050). */
const touch = (sql: Queries, projectId: string) => sql`
  with project as (
    update projects set updated_at = at from next_updated_at() as at where projects.id = ${projectId}
    returning projects.updated_at)`;

/** Maximum number of deliverables of a project, which are listed as one page. */
export const maxDeliverables = 1000;

/** Locks a project until the transaction ends. Returns its target languages; undefined if it does not exist. */
export const lockTargetLanguages = async (sql: Queries, projectId: string): Promise<string[] | undefined> => {
  const [row] = await sql<{ target_languages: string[] }[]>`
    select target_languages from projects where id = ${projectId} for update`;
  return row?.target_languages;
};

/**
 * Adds a deliverable to a locked project; undefined if the project has `maxDeliverables`. The database generates the id, so
 * that deliverables are ordered by its clock.
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

/** Changes a locked deliverable. If it becomes delivered, delivered_at is the time of the change, unless the patch has another. */
export const updateDeliverable = async (
  sql: Queries,
  { id: projectId, deliverable_id: id }: DeliverableParams,
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
  { id: projectId, deliverable_id: id }: DeliverableParams,
): Promise<void> => {
  await sql`
    ${touch(sql, projectId)}
    delete from deliverables using project where project_id = ${projectId} and id = ${id}`;
};
