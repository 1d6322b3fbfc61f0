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
        Projects: 'What is being verified',
        Languages: 'What languages are called',
        Deliverables: 'What a project has to deliver',
        'API keys': 'Who may read the lists',
        Subscriptions: 'Webhooks that send changes of lists',
      },
      codes: problemCodes,
      basePath: '/v1',
      examples: {
        key: 'vk_Zm9yLWEtcGFydG5lcg',
        deliverable_id: '0198c5a0-7e57-7001-8000-000000000000',
        // It was archived long ago.
        'deleteProject.id': '0198c5a0-7e57-7000-8000-000000000003',
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
