import { fullListJson } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, record } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { ProjectPath } from '../projects/schema.ts';
import { requireLanguages } from '../projects/use-cases.ts';
import { clientsOf } from '../reader.ts';
import {
  deleteDeliverable,
  findDeliverable,
  findDeliverables,
  insertDeliverable,
  lockTargetLanguages,
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
      summary: 'Deliverables, oldest first',
      description:
        'All of a project, as one page. Each change of a deliverable also changes updated_at of its project.',
      body: DeliverableList,
      page: async (_query, { params: { id }, caller }) =>
        fullListJson(
          'deliverables',
          orNotFound(await findDeliverables(sql, id, clientsOf(caller)), 'project'),
        ),
    },
    find: (on, { params, caller }, lock) => findDeliverable(on, params, { clients: clientsOf(caller), lock }),
    create: {
      input: DeliverableInput,
      example: {
        name: 'Diploma of Ada',
        language: 'et',
        type: 'certificate',
        due_at: '2026-09-01T12:00:00Z',
      },
      conflict: `409 \`too_many_deliverables\` if the project has ${maxDeliverables}; 422 \`language_not_in_project\` if the project has target languages, but not this one.`,
      insert: (on, input, { params: { id } }) =>
        inTransaction(on, async (tx) => {
          requireLanguages([input.language], orNotFound(await lockTargetLanguages(tx, id), 'project'));
          const inserted = await insertDeliverable(tx, id, input);
          if (inserted !== undefined) return inserted;
          throw new Conflict('too_many_deliverables', `The project has ${maxDeliverables} deliverables.`);
        }),
    },
    change: {
      patch: DeliverablePatch,
      example: { status: 'in_progress' },
      unprocessable: '422 `language_not_in_project` if the language is not a target of the project.',
      save: async (on, patch, { params }) => {
        if (patch.language !== undefined)
          requireLanguages([patch.language], orNotFound(await lockTargetLanguages(on, params.id), 'project'));
        return updateDeliverable(on, params, patch);
      },
    },
    remove: { delete: (on, { params }) => deleteDeliverable(on, params) },
  });
