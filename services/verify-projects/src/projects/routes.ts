import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import {
  Project,
  ProjectInput,
  ProjectList,
  ProjectPatch,
  ProjectPath,
  ProjectQuery,
  RemovalQuery,
} from './schema.ts';
import { projectsOf } from './use-cases.ts';

export const projectRoutes = (ctx: Context): Route[] => {
  const { page, find, insert, save, remove } = projectsOf(ctx);
  return record({
    path: '/projects',
    basePath: '/v1',
    params: ProjectPath,
    tag: 'Projects',
    name: 'project',
    schema: Project,
    computed: ['updated_at'],
    read: ctx.reader,
    write: ctx.admin,
    sql: ctx.database.sql,
    list: {
      summary: 'Projects in the order of their last change, oldest change first',
      description:
        'Ordered by updated_at, then id. Every page costs the same. To follow changes, keep the highest ' +
        'updated_at seen and send it as modified_after next time.',
      query: ProjectQuery,
      body: ProjectList,
      page,
    },
    find,
    create: {
      input: ProjectInput,
      example: { name: 'Diplomas', source_language: 'en', target_languages: ['de', 'pt-BR'] },
      insert,
    },
    change: { patch: ProjectPatch, example: { status: 'active' }, save },
    remove: {
      query: RemovalQuery,
      conflict:
        'Its deliverables are deleted as well. 409 `not_archived` until it has been archived for 30 days, unless `force=true`.',
      delete: remove,
    },
  });
};
