import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { ProjectPath } from '../projects/schema.ts';
import {
  Deliverable,
  DeliverableInput,
  DeliverableList,
  DeliverablePatch,
  DeliverablePath,
} from './schema.ts';
import { deliverablesOf } from './use-cases.ts';

export const deliverableRoutes = (ctx: Context): Route[] => {
  const { page, find, insert, save, remove } = deliverablesOf(ctx);
  return record({
    path: '/projects/{id}/deliverables',
    basePath: '/v1',
    params: DeliverablePath,
    parents: ProjectPath,
    tag: 'Deliverables',
    name: 'deliverable',
    schema: Deliverable,
    read: ctx.reader,
    write: ctx.admin,
    sql: ctx.database.sql,
    list: {
      summary: 'All deliverables of a project, oldest first, as one page',
      description: 'Every change of a deliverable updates updated_at of its project.',
      body: DeliverableList,
      page,
    },
    find,
    create: {
      input: DeliverableInput,
      example: { language: 'et', type: 'certificate', due_at: '2026-09-01T00:00:00Z' },
      insert,
    },
    change: { patch: DeliverablePatch, example: { status: 'in_progress' }, save },
    remove: { delete: remove },
  });
};
