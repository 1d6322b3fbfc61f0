import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { widgetRoutes } from './widgets/routes.ts';

/** The resources of the service, and their description in the OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Placeholder service',
      version: '1.0.0',
      description: 'Widgets, read in pages.',
      tags: { Widgets: 'Named widgets' },
      basePath: '/v1',
    },
    routes: widgetRoutes(context),
  });
