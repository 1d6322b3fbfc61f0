import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { itemRoutes } from './items/routes.ts';

/** The resources of the service, and their description in the OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Placeholder service',
      version: '1.0.0',
      description: 'Items, read in pages.',
      tags: { Items: 'Named items' },
      basePath: '/v1',
    },
    routes: itemRoutes(context),
  });
