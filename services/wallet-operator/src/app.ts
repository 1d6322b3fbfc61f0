import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { callbackListener } from './callbacks/listener.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import type { Context } from './context.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp => {
  const app = createHttpApp(context, {
    about: {
      title: 'Wallet operator',
      version: '1.0.0',
      description:
        "The operator's side of a game server: wallet callbacks, and what people need around them.",
      tags: {
        Callbacks: 'Called by the game server, signed with HMAC-SHA256',
      },
      basePath: '',
    },
    routes: [...callbackRoutes(context)],
  });
  return { ...app, listener: callbackListener(context, app.express) };
};
