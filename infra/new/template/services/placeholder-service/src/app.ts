import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { itemRoutes } from './items/routes.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Placeholder service',
      version: '1.0.0',
      description: 'Items, read in pages.',
      tags: { Items: 'What this service keeps' },
      basePath: '/v1',
    },
    routes: itemRoutes(context),
  });
