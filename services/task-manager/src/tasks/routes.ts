import { etagOf, expectedVersions, isNotModified } from '@platform/service-kit/etag';
import { idempotencyKeyHeader, idempotencyKeyOf } from '@platform/service-kit/idempotency';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { NewTask, Task, TaskList, TaskParams, TaskPatch, TaskQuery } from './schema.ts';
import { createTask, getTask, listTasks, patchTask, removeTask } from './use-cases.ts';

const tag = 'Tasks';
const etag = { ETag: 'The version of the task' };
/** A browser may store a task if it revalidates it; a shared cache must not store it. */
const own = { 'Cache-Control': 'private, no-cache' };
const headersOf = (task: Task) => ({ ETag: etagOf(task.version), ...own });

export const taskRoutes = (context: Context): Route[] => {
  const auth = context.tokens.guard();
  return [
    route(
      {
        method: 'get',
        path: '/tasks',
        operationId: 'listTasks',
        tag,
        summary: 'List your tasks, filtered and sorted, by page',
        auth,
        query: TaskQuery,
        responses: { 200: { description: 'One page of tasks', body: TaskList } },
      },
      async ({ caller, query }) => ({
        status: 200,
        headers: own,
        body: await listTasks(context, caller.subject, query),
      }),
    ),
    route(
      {
        method: 'post',
        path: '/tasks',
        operationId: 'createTask',
        tag,
        summary: 'Create a task',
        auth,
        headers: idempotencyKeyHeader,
        body: { schema: NewTask, example: { title: 'Water the plants', tags: ['home'], priority: 'high' } },
        responses: {
          201: {
            description: 'The task',
            body: Task,
            headers: { ...etag, Location: 'The address of the task' },
          },
        },
        problems: [422],
      },
      async ({ caller, body, req }) => {
        const task = await createTask(context, {
          userId: caller.subject,
          key: idempotencyKeyOf(req),
          input: body,
        });
        return {
          status: 201,
          headers: { ...headersOf(task), Location: `/api/v1/tasks/${task.id}` },
          body: task,
        };
      },
    ),
    route(
      {
        method: 'get',
        path: '/tasks/{id}',
        operationId: 'getTask',
        tag,
        summary: 'Get one of your tasks',
        auth,
        params: TaskParams,
        headers: { 'If-None-Match': 'ETags of the versions you have; 304 when the task has one of them' },
        responses: {
          200: { description: 'The task', body: Task, headers: etag },
          304: { description: 'You have this version', headers: etag },
        },
        problems: [404],
      },
      async ({ caller, params, req }) => {
        const task = await getTask(context, { userId: caller.subject, id: params.id });
        const headers = headersOf(task);
        return isNotModified(req, task.version)
          ? { status: 304, headers }
          : { status: 200, headers, body: task };
      },
    ),
    route(
      {
        method: 'patch',
        path: '/tasks/{id}',
        operationId: 'patchTask',
        tag,
        summary: 'Change a task with a JSON Merge Patch',
        auth,
        params: TaskParams,
        headers: {
          'If-Match': 'ETags of the versions you want to change; 412 when the task has another one',
        },
        body: {
          schema: TaskPatch,
          example: { status: 'done' },
          types: ['application/merge-patch+json', 'application/json'],
        },
        responses: { 200: { description: 'The task', body: Task, headers: etag } },
        problems: [404, 412],
      },
      async ({ caller, params, body, req }) => {
        const name = { userId: caller.subject, id: params.id };
        const task = await patchTask(context, { ...name, patch: body, expected: expectedVersions(req) });
        return { status: 200, headers: headersOf(task), body: task };
      },
    ),
    route(
      {
        method: 'delete',
        path: '/tasks/{id}',
        operationId: 'deleteTask',
        tag,
        summary: 'Delete a task',
        auth,
        params: TaskParams,
        headers: {
          'If-Match': 'ETags of the versions you want to delete; 412 when the task has another one',
        },
        responses: { 204: { description: 'The task is deleted' } },
        problems: [404, 412],
      },
      async ({ caller, params, req }) => {
        await removeTask(context, { userId: caller.subject, id: params.id, expected: expectedVersions(req) });
        return { status: 204, headers: own };
      },
    ),
  ];
};
