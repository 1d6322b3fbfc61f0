import { ValidationFailed } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { isStorable } from '@platform/service-kit/text';
import type { Request } from 'express';
import type { Context } from '../context.ts';
import { etagOf, isExpected, isKnown } from './etag.ts';
import { NewTask, Task, TaskList, TaskParams, TaskPatch, TaskQuery } from './schema.ts';
import { createTask, getTask, listTasks, patchTask, removeTask } from './use-cases.ts';

const tag = 'Tasks';
const etag = { ETag: 'The version of the task' };
/** A shared cache must not give one caller's tasks to another. */
const own = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization, Cookie' };
const headersOf = (task: Task) => ({ ETag: etagOf(task.version), ...own });

const keyOf = (req: Request): string | undefined => {
  const key = req.get('idempotency-key');
  if (key !== undefined && (key.length < 1 || key.length > 128 || !isStorable(key))) {
    throw new ValidationFailed({ 'Idempotency-Key': ['must have 1 to 128 characters'] });
  }
  return key;
};

const expectedBy = (req: Request) => (version: number) => isExpected(req.get('if-match'), version);

export const taskRoutes = (context: Context): Route[] => {
  const caller = context.tokens.guard();
  return [
    route(
      {
        method: 'get',
        path: '/tasks',
        operationId: 'listTasks',
        tag,
        summary: 'Your tasks, filtered and sorted, in pages',
        caller,
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
        caller,
        headers: {
          'Idempotency-Key':
            'Up to 128 characters. For 24 hours a repeat with the same key and body gets the first answer, ' +
            'one with another body 422.',
        },
        body: { schema: NewTask },
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
        const task = await createTask(context, { userId: caller.subject, key: keyOf(req), wanted: body });
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
        summary: 'One of your tasks',
        caller,
        params: TaskParams,
        headers: { 'If-None-Match': 'ETags of the versions you have; 304 when it is one of them' },
        responses: {
          200: { description: 'The task', body: Task, headers: etag },
          304: { description: 'You have this version', headers: etag },
        },
        problems: [404],
      },
      async ({ caller, params, req }) => {
        const task = await getTask(context, { userId: caller.subject, id: params.id });
        const headers = headersOf(task);
        return isKnown(req.get('if-none-match'), task.version)
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
        summary: 'Change a task by a JSON Merge Patch',
        caller,
        params: TaskParams,
        headers: { 'If-Match': 'ETags of the versions you would change; 412 when it is none of them' },
        body: { schema: TaskPatch, types: ['application/merge-patch+json', 'application/json'] },
        responses: { 200: { description: 'The task', body: Task, headers: etag } },
        problems: [404, 412],
      },
      async ({ caller, params, body, req }) => {
        const named = { userId: caller.subject, id: params.id };
        const task = await patchTask(context, { ...named, patch: body, expected: expectedBy(req) });
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
        caller,
        params: TaskParams,
        headers: { 'If-Match': 'ETags of the versions you would delete; 412 when it is none of them' },
        responses: { 204: { description: 'It is gone' } },
        problems: [404, 412],
      },
      async ({ caller, params, req }) => {
        await removeTask(context, { userId: caller.subject, id: params.id, expected: expectedBy(req) });
        return { status: 204, headers: own };
      },
    ),
  ];
};
