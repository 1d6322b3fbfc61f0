import { fullListJson } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Context } from '../context.ts';
import {
  deleteDeliverable,
  findDeliverable,
  findDeliverables,
  insertDeliverable,
  updateDeliverable,
} from './queries.ts';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';

interface OfProject {
  params: { id: string };
}

interface OneDeliverable {
  params: { id: string; deliverable_id: string };
}

const placeOf = ({ params: { id: projectId, deliverable_id: id } }: OneDeliverable) => ({ projectId, id });

/** What `record()` does with deliverables. Each change of one updates updated_at of its project. */
export const deliverablesOf = ({ database: { sql } }: Context) => ({
  page: async (_query: object, { params: { id } }: OfProject) =>
    fullListJson('deliverables', orNotFound(await findDeliverables(sql, id), 'project')),
  find: (on: Queries, deliverable: OneDeliverable, lock: boolean) =>
    findDeliverable(on, placeOf(deliverable), lock),
  insert: async (on: Queries, input: DeliverableInput, { params: { id } }: OfProject) =>
    orNotFound(await insertDeliverable(on, id, input), 'project'),
  save: (on: Queries, patch: DeliverablePatch, deliverable: OneDeliverable) =>
    updateDeliverable(on, placeOf(deliverable), patch),
  remove: (on: Queries, deliverable: OneDeliverable) => deleteDeliverable(on, placeOf(deliverable)),
});
