import { pageListJson, pageOf } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { deleteProject, findProject, findProjects, insertProject, updateProject } from './queries.ts';
import {
  Project,
  ProjectInput,
  ProjectList,
  ProjectPatch,
  ProjectPath,
  ProjectQuery,
  RemovalQuery,
} from './schema.ts';

/** How long a project stays archived, so that clients that follow changes learn of it. */
const archivedDays = 30;

export const projectRoutes = ({ reader, admin, database: { sql } }: Context): Route[] =>
  record({
    path: '/projects',
    basePath: '/v1',
    params: ProjectPath,
    tag: 'Projects',
    name: 'project',
    schema: Project,
    computed: ['updated_at'],
    read: reader,
    write: admin,
    sql,
    list: {
      summary: 'Projects in the order of their last change, oldest change first',
      description:
        'Ordered by updated_at, then id. Every page costs the same. To follow changes, keep the highest ' +
        'updated_at seen and send it as modified_after next time.',
      query: ProjectQuery,
      body: ProjectList,
      page: async (query) => {
        const page = pageOf(query);
        return pageListJson('projects', page, await findProjects(sql, page, query));
      },
    },
    find: (on, { params: { id } }, lock) => findProject(on, id, lock),
    create: {
      input: ProjectInput,
      example: { name: 'Diplomas', source_language: 'en', target_languages: ['de', 'pt-BR'] },
      insert: insertProject,
    },
    change: {
      patch: ProjectPatch,
      example: { status: 'active' },
      save: (on, patch, { params: { id } }) => updateProject(on, id, patch),
    },
    remove: {
      query: RemovalQuery,
      conflict:
        'Its deliverables are deleted as well. 409 `not_archived` until it has been archived for 30 days, unless `force=true`.',
      delete: async (on, { params: { id }, query: { force } }) => {
        if (await deleteProject(on, id, force ? 0 : archivedDays)) return;
        throw new Conflict(
          'not_archived',
          `Clients learn of a project's end when it is archived: archive it ${archivedDays} days before, or add force=true.`,
        );
      },
    },
  });
