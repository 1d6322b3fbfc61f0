import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { draftRoutes } from './drafts/routes.ts';
import { questionRoutes } from './questions/routes.ts';
import { questFeed } from './quests/feed.ts';
import { questRoutes } from './quests/record.ts';
import { problemCodes } from './problem-codes.ts';

/** The resources of the service and their description in the OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Quest service',
      version: '1.0.0',
      description: 'Quests and their questions, read in pages by Skip and Take.',
      tags: {
        Quests: 'Questionnaires',
        Questions: 'The questions of a quest, in order',
        Subscriptions: 'Webhooks that send changes of lists',
      },
      codes: problemCodes,
      basePath: '/v1',
      examples: {
        version: '7',
        alternativeId: 'tea',
        'deleteQuest.questId': '0198c5a0-7e57-7000-8000-000000000002',
        'deleteSubscription.id': '0198c5a0-7e57-7f00-8000-000000000002',
        'deleteDraft.questId': '0198c5a0-7e57-7000-8000-000000000003',
      },
    },
    routes: [
      ...questRoutes(context),
      ...questionRoutes(context),
      ...draftRoutes(context),
      ...questFeed(context),
    ],
  });
