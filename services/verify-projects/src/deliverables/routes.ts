import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { fullListJson } from '@platform/pagination/list';
import { ProjectPath } from '../projects/schema.ts';
import {
  Deliverable,
  DeliverableInput,
  DeliverableList,
  DeliverablePatch,
  DeliverablePath,
} from './schema.ts';
import {
  changeDeliverable,
  createDeliverable,
  getDeliverable,
  listDeliverables,
  removeDeliverable,
} from './use-cases.ts';

const tag = 'Deliverables';
const list = '/projects/{id}/deliverables';
const one = '/projects/{id}/deliverables/{deliverable_id}';

export const deliverableRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: list,
      operationId: 'listDeliverables',
      tag,
      summary: 'All deliverables of a project, oldest first',
      auth: ctx.reader,
      params: ProjectPath,
      responses: { 200: { description: 'The whole list as one page', body: DeliverableList } },
      problems: [404],
    },
    async ({ params }) => ({
      status: 200,
      rawBody: fullListJson('deliverables', await listDeliverables(ctx, params.id)),
    }),
  ),
  route(
    {
      method: 'post',
      path: list,
      operationId: 'createDeliverable',
      tag,
      summary:
        'Create a deliverable; like every change of a deliverable, this updates updated_at of its project',
      auth: ctx.admin,
      params: ProjectPath,
      body: {
        schema: DeliverableInput,
        example: { language: 'et', type: 'certificate', due_at: '2026-09-01T00:00:00Z' },
      },
      responses: {
        201: {
          description: 'The new deliverable',
          body: Deliverable,
          headers: { Location: 'Address of the deliverable' },
        },
      },
      problems: [404],
    },
    async ({ params, body }) => {
      const { id, json } = await createDeliverable(ctx, params.id, body);
      return {
        status: 201,
        headers: { Location: `/v1/projects/${params.id}/deliverables/${id}` },
        rawBody: json,
      };
    },
  ),
  route(
    {
      method: 'get',
      path: one,
      operationId: 'getDeliverable',
      tag,
      summary: 'One deliverable',
      auth: ctx.admin,
      params: DeliverablePath,
      responses: { 200: { description: 'The deliverable', body: Deliverable } },
      problems: [404],
    },
    async ({ params: { id: projectId, deliverable_id: id } }) => ({
      status: 200,
      rawBody: await getDeliverable(ctx, { projectId, id }),
    }),
  ),
  route(
    {
      method: 'patch',
      path: one,
      operationId: 'changeDeliverable',
      tag,
      summary: 'Change some fields of a deliverable',
      auth: ctx.admin,
      params: DeliverablePath,
      body: { schema: DeliverablePatch },
      responses: { 200: { description: 'The deliverable', body: Deliverable } },
      problems: [404],
    },
    async ({ params: { id: projectId, deliverable_id: id }, body }) => ({
      status: 200,
      rawBody: await changeDeliverable(ctx, { projectId, id }, body),
    }),
  ),
  route(
    {
      method: 'delete',
      path: one,
      operationId: 'deleteDeliverable',
      tag,
      summary: 'Delete a deliverable',
      auth: ctx.admin,
      params: DeliverablePath,
      responses: { 204: { description: 'The deliverable is deleted' } },
      problems: [404],
    },
    async ({ params: { id: projectId, deliverable_id: id } }) => {
      await removeDeliverable(ctx, { projectId, id });
      return { status: 204 };
    },
  ),
];
