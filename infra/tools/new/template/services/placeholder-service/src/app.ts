import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { sparePartRoutes } from './spare-parts/record.ts';

/** The resources of the service, and their description in the OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Placeholder service',
      version: '1.0.0',
      description: 'Spare parts, read in pages.',
      tags: { 'Spare parts': 'Named spare parts' },
      basePath: '/v1',
    },
    routes: sparePartRoutes(context),
  });
