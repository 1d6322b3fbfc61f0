import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { apiKeyRoutes } from './api-keys/routes.ts';
import type { Context } from './context.ts';
import { deliverableRoutes } from './deliverables/record.ts';
import { feedRoutes } from './feed.ts';
import { languageRoutes } from './languages/routes.ts';
import { projectRoutes } from './projects/record.ts';
import { problemCodes } from './problem-codes.ts';

/** The routes of the service and the header of its OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Verification projects',
      version: '1.0.0',
      description:
        'Verification projects, their languages and deliverables, read in pages by page and limit.',
      tags: {
        Projects: 'What is verified, and its status',
        Languages: 'Names of languages',
        Deliverables: 'Documents that a project has to deliver',
        'API keys': 'Keys that can read the lists',
        Subscriptions: 'Webhooks that send changes of lists',
      },
      codes: problemCodes,
      basePath: '/v1',
      examples: {
        key: 'vk_Zm9yLWEtcGFydG5lcg',
        deliverable_id: '0198c5a0-7e57-7001-8000-000000000000',
        // This project was archived long ago, so that it can be deleted.
        'deleteProject.id': '0198c5a0-7e57-7000-8000-000000000003',
        'deleteSubscription.id': '0198c5a0-7e57-7f00-8000-000000000002',
        'revokeApiKey.id': '0198c5a0-7e57-7100-8000-000000000002',
      },
    },
    routes: [
      ...projectRoutes(context),
      ...deliverableRoutes(context),
      ...languageRoutes(context),
      ...apiKeyRoutes(context),
      ...feedRoutes(context),
    ],
  });
