import { pageListJson, pageOf } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { clientsOf } from '../reader.ts';
import { deleteProject, findProject, insertProject } from './queries.ts';
import {
  ProjectDetails,
  ProjectInput,
  ProjectList,
  ProjectPatch,
  ProjectPath,
  ProjectQuery,
  RemovalQuery,
} from './schema.ts';
import { changeProject, listProjects } from './use-cases.ts';

export const projectRoutes = (ctx: Context): Route[] =>
  record({
    path: '/projects',
    basePath: '/v1',
    params: ProjectPath,
    tag: 'Projects',
    name: 'project',
    schema: ProjectDetails,
    computed: ['updated_at', 'deliverables_by_status'],
    read: ctx.reader,
    write: ctx.admin,
    sql: ctx.database.sql,
    list: {
      summary: 'Projects, oldest change first',
      description:
        'Ordered by updated_at, then id. Every page costs the same. To follow changes, keep the highest ' +
        'updated_at seen and send it as modified_after next time.',
      query: ProjectQuery,
      body: ProjectList,
      page: async (query, { caller }) => {
        const page = pageOf(query);
        return pageListJson('projects', page, await listProjects(ctx, page, query, clientsOf(caller)));
      },
    },
    find: (on, { params: { id }, caller }, lock) => findProject(on, { id, clients: clientsOf(caller), lock }),
    create: {
      input: ProjectInput,
      example: {
        name: 'Diplomas',
        client: 'Tartu',
        source_language: 'en',
        target_languages: ['de', 'et'],
      },
      insert: insertProject,
    },
    change: {
      patch: ProjectPatch,
      example: { status: 'active' },
      conflict: '409 `client_has_keys` if API keys are limited to the client that would lose the project.',
      unprocessable:
        '422 `language_not_in_project` if the target languages lack the language of a deliverable.',
      save: (on, patch, _target, current) => changeProject(on, JSON.parse(current) as ProjectDetails, patch),
    },
    remove: {
      query: RemovalQuery,
      conflict:
        'Its deliverables are deleted as well. 409 `not_archived` until it has been archived for PROJECT_ARCHIVE_DAYS (30), unless `force=true`.',
      delete: async (on, { params: { id }, query: { force } }) => {
        if (await deleteProject(on, id, force ? undefined : ctx.archivedDays)) return;
        throw new Conflict(
          'not_archived',
          `A project can be deleted ${ctx.archivedDays} days after it was archived, so that clients learn of it; use force=true to delete it now.`,
        );
      },
    },
  });
