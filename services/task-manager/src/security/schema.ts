import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { clientFields } from '../sessions/schema.ts';
import { securityEventKinds } from './kinds.ts';

export const SecurityEvent = z
  .object({
    kind: z.enum(securityEventKinds),
    ...clientFields,
    count: z.int().min(1).meta({ description: 'How often on this day, from this network and browser' }),
    firstAt: instant(),
    lastAt: instant(),
  })
  .meta({ id: 'SecurityEvent' });

export const SecurityEventQuery = z.strictObject(pageLimitQuery);

export const SecurityEvents = pageLimitBody('events', SecurityEvent).meta({ id: 'SecurityEvents' });
