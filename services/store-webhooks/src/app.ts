import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import type { Context } from './context.ts';
import { createHookHandler, hooksFirst } from './hooks/listener.ts';
import { createReception } from './hooks/reception.ts';
import { storeRoutes } from './stores/routes.ts';
import { hookRoutes } from './hooks/routes.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp => {
  const handle = createHookHandler(createReception(context), context);
  const app = createHttpApp(context, {
    about: {
      title: 'Store webhooks',
      version: '1.0.0',
      description:
        'Takes the webhooks of shops: stored durably before they are answered, processed afterwards.',
      tags: {
        Webhooks: 'What providers call; the token in the path is the credential',
        Stores: 'Shops, their providers and tokens',
      },
      basePath: '',
    },
    routes: [...hookRoutes(handle), ...storeRoutes(context)],
    logPaths: false,
  });
  return { ...app, listener: hooksFirst(handle, app.express) };
};
