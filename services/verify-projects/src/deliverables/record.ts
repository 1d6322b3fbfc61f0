import { fullListJson } from '@platform/pagination/list';
import { Conflict, NotFound } from '@platform/service-kit/problem';
import { inTransaction, record } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { ProjectPath } from '../projects/schema.ts';
import {
  deleteDeliverable,
  findDeliverable,
  findDeliverables,
  insertDeliverable,
  lockProject,
  maxDeliverables,
  updateDeliverable,
} from './queries.ts';
import {
  Deliverable,
  DeliverableInput,
  DeliverableList,
  DeliverablePatch,
  DeliverablePath,
} from './schema.ts';

export const deliverableRoutes = ({ reader, admin, database: { sql } }: Context): Route[] =>
  record({
    path: '/projects/{id}/deliverables',
    basePath: '/v1',
    params: DeliverablePath,
    parents: ProjectPath,
    tag: 'Deliverables',
    name: 'deliverable',
    schema: Deliverable,
    read: reader,
    write: admin,
    sql,
    list: {
      summary: 'All deliverables of a project, oldest first, as one page',
      description: 'Every change of a deliverable updates updated_at of its project.',
      body: DeliverableList,
      page: async (_query, { params: { id } }) =>
        fullListJson('deliverables', orNotFound(await findDeliverables(sql, id), 'project')),
    },
    find: (on, { params }, lock) => findDeliverable(on, params, lock),
    create: {
      input: DeliverableInput,
      example: { language: 'et', type: 'certificate', due_at: '2026-09-01T00:00:00Z' },
      conflict: `409 \`too_many_deliverables\` in a project that has ${maxDeliverables}.`,
      insert: (on, input, { params: { id } }) =>
        inTransaction(on, async (tx) => {
          if (!(await lockProject(tx, id))) throw new NotFound('project');
          const inserted = await insertDeliverable(tx, id, input);
          if (inserted !== undefined) return inserted;
          throw new Conflict('too_many_deliverables', `The project has ${maxDeliverables} deliverables.`);
        }),
    },
    change: {
      patch: DeliverablePatch,
      example: { status: 'in_progress' },
      save: (on, patch, { params }) => updateDeliverable(on, params, patch),
    },
    remove: { delete: (on, { params }) => deleteDeliverable(on, params) },
  });
