import { Problem } from '@platform/service-kit/problem';
import { anyone, route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { challengeForm } from '../payments/challenge-payload.ts';
import { eventTypes } from '../processing/event-types.ts';
import { demoOrder } from '../providers/pos-payloads.ts';
import { hookEventNames, hookEvents, pascalCase, pathTemplateOf, type HookEvent } from '../webhooks.ts';
import { createReceiver, maxBody } from './receive.ts';
import { createTokenGuard } from './token-guard.ts';

const token = z.string().meta({ description: 'A webhook token of the store' });
const service = z.string().meta({ description: 'The provider, such as persona' });
const paramsOf = (event: HookEvent) =>
  hookEvents[event].service ? z.strictObject({ service, token }) : z.strictObject({ token });

const anyOther = z.looseObject({}).meta({
  description: 'Any other body is stored too, and fails or is ignored during processing',
});

const payloadForm = z
  .looseObject({ payload: z.string().optional().meta({ description: 'The JSON body as text' }) })
  .meta({
    id: 'WebhookForm',
    description: 'Either the field `payload` alone, or the fields of the JSON body',
  });

const redirect = {
  302: {
    description: 'The browser continues on the verification page of the shop, for success or failure',
    headers: { Location: 'Page of the shop' },
  },
};

/** The ten webhooks of docs/contracts/store-webhooks.md. */
export const hookRoutes = (context: Context): Route[] => {
  const receive = createReceiver(context);
  const post = (event: HookEvent): Route => ({
    fast: true,
    method: 'post',
    path: pathTemplateOf(event),
    operationId: `receive${pascalCase(event)}`,
    tag: 'Webhooks',
    summary: hookEvents[event].summary,
    description: 'The token in the path is the credential.',
    auth: createTokenGuard(context, event),
    skipRateLimit: true,
    params: paramsOf(event),
    // Senders may add their own parameters.
    query: z.looseObject({}),
    body: {
      // Only for the OpenAPI document; bodies are not validated.
      schema: z.union([...eventTypes[event].payloads, anyOther]),
      ...(event === 'order_updated' && { example: demoOrder }),
      form: event === 'payment-auth-completed' ? challengeForm : payloadForm,
      types: ['application/json', 'application/x-www-form-urlencoded'],
      limit: maxBody,
      raw: true,
    },
    responses: {
      200: { description: 'Stored, or a duplicate', body: z.strictObject({}) },
      ...(event === 'payment-auth-completed' ? redirect : {}),
    },
    problems: [403, 404, 413],
    handle: receive,
  });
  return hookEventNames.flatMap((event) => [post(event), checkRoute(event)]);
};

/** Returns the value of `check`, because some providers verify an address in this way before they use it. */
const checkRoute = (event: HookEvent): Route =>
  route(
    {
      fast: true,
      method: 'get',
      path: pathTemplateOf(event),
      operationId: `check${pascalCase(event)}`,
      tag: 'Webhooks',
      summary: 'Verify the address',
      description:
        'Returns the value of the query parameter `check`, for providers that verify an address. The token is not looked up.',
      auth: anyone,
      skipRateLimit: true,
      params: paramsOf(event),
      query: z.looseObject({
        check: z
          .string()
          .max(1000)
          .optional()
          .meta({
            description: 'Returned unchanged; without it the response is 405',
            example: 'hello',
            param: { required: true },
          }),
      }),
      responses: {
        200: {
          description: 'The value',
          body: z.string().meta({ example: 'hello' }),
          mediaType: 'text/plain',
        },
      },
      problems: [405],
    },
    ({ query: { check } }) => {
      if (check === undefined)
        throw new Problem({
          status: 405,
          code: 'method_not_allowed',
          detail: 'This address accepts POST.',
          headers: { Allow: 'POST' },
        });
      return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, rawBody: check };
    },
  );
