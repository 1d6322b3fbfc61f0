import { pageListJson, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { Project, ProjectInput, ProjectList, ProjectPatch, ProjectPath, ProjectQuery } from './schema.ts';
import { changeProject, createProject, getProject, listProjects, removeProject } from './use-cases.ts';

const tag = 'Projects';

export const projectRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/projects',
      operationId: 'listProjects',
      tag,
      summary: 'Projects in the order of their last change, oldest change first',
      description:
        'Ordered by updated_at, then id. Every page costs the same. To follow changes, keep the highest ' +
        'updated_at seen and send it as modified_after next time.',
      auth: ctx.reader,
      query: ProjectQuery,
      responses: { 200: { description: 'One page of projects', body: ProjectList } },
    },
    async ({ query }) => {
      const page = pageOf(query);
      return { status: 200, rawBody: pageListJson('projects', page, await listProjects(ctx, page, query)) };
    },
  ),
  route(
    {
      method: 'post',
      path: '/projects',
      operationId: 'createProject',
      tag,
      summary: 'Create a project',
      auth: ctx.admin,
      body: {
        schema: ProjectInput,
        example: { name: 'Diplomas', source_language: 'en', target_languages: ['de', 'pt-BR'] },
      },
      responses: {
        201: {
          description: 'The new project',
          body: Project,
          headers: { Location: 'Address of the project' },
        },
      },
    },
    async ({ body }) => {
      const { id, json } = await createProject(ctx, body);
      return { status: 201, headers: { Location: `/v1/projects/${id}` }, rawBody: json };
    },
  ),
  route(
    {
      method: 'get',
      path: '/projects/{id}',
      operationId: 'getProject',
      tag,
      summary: 'One project',
      auth: ctx.admin,
      params: ProjectPath,
      responses: { 200: { description: 'The project', body: Project } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, rawBody: await getProject(ctx, params.id) }),
  ),
  route(
    {
      method: 'patch',
      path: '/projects/{id}',
      operationId: 'changeProject',
      tag,
      summary: 'Change some fields of a project',
      auth: ctx.admin,
      params: ProjectPath,
      body: { schema: ProjectPatch, example: { status: 'active' } },
      responses: { 200: { description: 'The project', body: Project } },
      problems: [404],
    },
    async ({ params, body }) => ({ status: 200, rawBody: await changeProject(ctx, params.id, body) }),
  ),
  route(
    {
      method: 'delete',
      path: '/projects/{id}',
      operationId: 'deleteProject',
      tag,
      summary: 'Delete a project and its deliverables',
      auth: ctx.admin,
      params: ProjectPath,
      responses: { 204: { description: 'The project is deleted' } },
      problems: [404],
    },
    async ({ params }) => {
      await removeProject(ctx, params.id);
      return { status: 204 };
    },
  ),
];
