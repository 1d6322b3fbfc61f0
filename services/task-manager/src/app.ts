import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { batchRefusedMembers } from '@platform/service-kit/record';
import { adminRoutes } from './admin/routes.ts';
import { authRoutes } from './auth/routes.ts';
import type { Context } from './context.ts';
import { profileRoutes } from './account/record.ts';
import { accountRoutes, leavingRoutes } from './account/routes.ts';
import { listRoutes } from './lists/record.ts';
import { securityRoutes } from './security/events.ts';
import { sessionRoutes } from './sessions/record.ts';
import { taskFeed } from './tasks/feed.ts';
import { taskRoutes } from './tasks/record.ts';
import { operatorProblemCodes, problemCodes } from './problem-codes.ts';

/** The service's resources and their OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Task manager',
      version: '1.0.0',
      description: 'Users and their tasks.',
      // `Account` comes last, because tools send requests in the order of the tags, and deleting it ends the session.
      tags: {
        Tasks: 'Tasks of a user and of shared lists',
        Lists: 'Lists that users share',
        Sessions: 'Sessions of a user',
        Auth: 'Registration, login, refresh and logout',
        Administration: 'Account operations for operators',
        Account: 'Profile, password, email address, export and deletion',
      },
      problemMembers: { batch_refused: batchRefusedMembers },
      codes: { ...problemCodes, ...(context.operators && operatorProblemCodes) },
      basePath: '/api/v1',
      examples: {
        accessToken: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTkwIn0.c2lnbmF0dXJl',
        description: 'Those on the balcony, too',
        status: 'todo',
        members: {
          'grandma@example.test': { role: 'viewer', status: 'invited', userId: null, name: null },
        },
        code: 'Zm9yLWdyYW5kbWE',
        'deleteTask.id': '01900000-0000-7000-8000-00000000d01d',
        'deleteSession.id': '01900000-0000-7000-8000-00000000d5e1',
        codes: { 'grandma@example.test': 'Zm9yLWdyYW5kbWE' },
      },
    },
    routes: [
      ...taskRoutes(context),
      ...taskFeed(context),
      ...listRoutes(context),
      ...sessionRoutes(context),
      ...securityRoutes(context),
      ...authRoutes(context),
      ...accountRoutes(context),
      ...(context.operators === undefined ? [] : adminRoutes(context, context.operators)),
      ...profileRoutes(context),
      // Last, because tools send requests in the order of the paths, and a deleted account has no session.
      ...leavingRoutes(context),
    ],
  });
