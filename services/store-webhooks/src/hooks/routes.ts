import { anyone, route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { createHookHandler } from './listener.ts';
import { hookEventNames, hookEvents, parseAddress, templateOf, type HookEvent } from './events.ts';
import { maxBody } from './body.ts';
import { formBodyOf, jsonBodyOf } from './payloads.ts';
import { NotFound } from '@platform/service-kit/problem';

const token = z.string().meta({ description: 'The webhook token of the store' });
const service = z.string().meta({ description: 'The provider, such as persona' });
const nothing = z.strictObject({});

const operationOf = (event: HookEvent): string => `receive_${event.replaceAll('-', '_')}`;

const redirect = {
  302: {
    description: 'Where the browser goes on: the verification page of the shop, for success or failure',
    headers: { Location: 'Page of the shop' },
  },
};

/** The ten addresses of the seed. None of them reads a header, checks a shape or waits for a provider. */
export const hookRoutes = (handle: ReturnType<typeof createHookHandler>): Route[] =>
  hookEventNames.map((event) =>
    route(
      {
        method: 'post',
        path: templateOf(event),
        operationId: operationOf(event),
        tag: 'Webhooks',
        summary: hookEvents[event].summary,
        description: 'The token in the path is the credential.',
        caller: anyone,
        unlimited: true,
        params: hookEvents[event].service ? z.strictObject({ service, token }) : z.strictObject({ token }),
        body: {
          schema: jsonBodyOf(event),
          form: formBodyOf(event),
          types: ['application/json', 'application/x-www-form-urlencoded'],
          limit: maxBody,
          raw: true,
        },
        responses: {
          200: { description: 'Stored, or known already', body: nothing },
          ...(event === 'payment-auth-completed' ? redirect : {}),
        },
        problems: [403, 404, 413],
      },
      async ({ req, res }) => {
        const address = parseAddress(req.originalUrl);
        if (address === undefined) throw new NotFound('path');
        await handle(req, res, address);
        return { status: 200, body: {} };
      },
    ),
  );
