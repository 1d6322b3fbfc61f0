import { z } from 'zod';
import { challengeForm, challengePayload } from '../payments/challenge.ts';
import { deliveryAdapters, identityAdapters, posAdapters } from '../providers/registry.ts';
import { verification } from '../providers/pos-payloads.ts';
import { isIdentityEvent, isJobEvent } from './subject.ts';
import type { HookEvent } from './events.ts';

/** Bodies of webhooks for the OpenAPI document. Nothing is refused for its shape. */

const other = z.looseObject({}).meta({
  description: 'Anything else is stored too, and fails or is ignored when it is processed',
});

const payloadsOf = (event: HookEvent): z.ZodType[] => {
  if (event === 'payment-auth-completed') return [challengePayload];
  if (isJobEvent(event)) return [...deliveryAdapters.values()].map(({ payload }) => payload);
  if (isIdentityEvent(event))
    return [verification, ...[...identityAdapters.values()].flatMap(({ payloads }) => payloads)];
  return [...posAdapters.values()].flatMap(({ payloads }) =>
    payloads === undefined ? [] : [event === 'order_updated' ? payloads.order : payloads.member],
  );
};

/** The shapes of the contract and of each provider that may send an event. */
export const jsonBodyOf = (event: HookEvent): z.ZodType => z.union([...payloadsOf(event), other]);

const wrapped = z
  .looseObject({ payload: z.string().optional().meta({ description: 'The JSON body as text' }) })
  .meta({
    id: 'WebhookForm',
    description: 'Either the field `payload` alone, or the fields of the JSON body',
  });

export const formBodyOf = (event: HookEvent): z.ZodType =>
  event === 'payment-auth-completed' ? challengeForm : wrapped;
