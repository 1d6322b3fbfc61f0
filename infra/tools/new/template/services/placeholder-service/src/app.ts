import { feedCodes } from '@platform/feed';
import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { sparePartFeed, sparePartRoutes } from './spare-parts/record.ts';

/** The resources of the service, and their description in the OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Placeholder service',
      version: '1.0.0',
      description: 'Spare parts, read in pages.',
      tags: { 'Spare parts': 'Named spare parts' },
      basePath: '/v1',
      codes: feedCodes('spare-parts'),
    },
    routes: [...sparePartRoutes(context), ...sparePartFeed(context)],
  });
