import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { auditRoutes } from './audit/routes.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import type { Context } from './context.ts';
import { gameRoutes } from './games/routes.ts';
import { launchRoutes } from './launches/routes.ts';
import { playerRoutes } from './players/routes.ts';
import { roundRoutes } from './rounds/routes.ts';
import { transferRoutes } from './transfers/routes.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Wallet operator',
      version: '1.0.0',
      description:
        "The operator's side of a game server: wallet callbacks, and what people need around them.",
      tags: {
        Callbacks: 'Called by the game server, signed with HMAC-SHA256',
        Players: 'Who plays, and their money',
        Games: 'What may be played',
        Rounds: 'For support, and to find those that nobody closes',
        Launches: 'Asked of the game server',
        Audit: 'What happened, and whether the ledger holds together',
      },
      basePath: '',
    },
    routes: [
      ...callbackRoutes(context),
      ...playerRoutes(context),
      ...transferRoutes(context),
      ...roundRoutes(context),
      ...gameRoutes(context),
      ...launchRoutes(context),
      ...auditRoutes(context),
    ],
  });
