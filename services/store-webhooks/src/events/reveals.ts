import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { eventReveals } from '../db/tables.ts';
import { declareRecords } from '../stores/records.ts';

const RevealView = z
  .object({
    id: z.uuid(),
    eventId: z.uuid(),
    revealedBy: z.string().meta({ description: 'Subject of the access token' }),
    requestId: z.string().meta({ description: 'Of the request, as in the access log' }),
    revealedAt: instant(),
  })
  .meta({ id: 'EventReveal' });

export const revealRecords = declareRecords({
  table: eventReveals,
  latest: eventReveals.id,
  name: 'eventReveals',
  path: 'event-reveals',
  tag: 'Events',
  summary: 'Who was shown which event without masking, newest first',
  view: RevealView,
  show: (row) => row,
});
