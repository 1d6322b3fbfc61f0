import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { User } from '../auth/schema.ts';
import { SecurityEvent } from '../security/schema.ts';
import { Session } from '../sessions/schema.ts';
import { Task } from '../tasks/schema.ts';

/** What is stored about a user. */
export const Export = z
  .object({
    profile: User,
    sessions: z.array(Session.omit({ current: true })),
    knownNetworks: z
      .array(z.object({ network: z.string(), seenAt: instant() }))
      .meta({ description: 'From which you have logged in' }),
    securityEvents: z.array(SecurityEvent),
    lists: z
      .array(z.object({ listId: z.uuid(), name: z.string(), role: z.string(), invitedAt: instant() }))
      .meta({ description: 'That you are a member of; their tasks are read with `GET /tasks?list=`' }),
    tasks: z.array(Task).meta({ description: 'Your own' }),
    keptAnswers: z
      .array(z.object({ answer: z.string().nullable(), createdAt: instant() }))
      .meta({ description: 'Of the last 24 hours, for their Idempotency-Keys' }),
    mails: z
      .array(z.object({ kind: z.string(), recipient: z.string(), state: z.string(), createdAt: instant() }))
      .meta({ description: 'To your address, and those that you caused' }),
  })
  .meta({ id: 'Export' });
