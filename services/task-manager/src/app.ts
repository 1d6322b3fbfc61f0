import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { authRoutes } from './auth/routes.ts';
import type { Context } from './context.ts';
import { taskRoutes } from './tasks/routes.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Task manager',
      version: '1.0.0',
      description: 'Users and their tasks.',
      tags: { Auth: 'Users and their sessions', Tasks: 'What a user has to do' },
      basePath: '/api/v1',
    },
    routes: [...authRoutes(context), ...taskRoutes(context)],
  });
