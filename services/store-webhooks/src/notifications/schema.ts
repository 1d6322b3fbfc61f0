import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { isoOf, isoOrNull } from '../time.ts';

export const NotificationView = z
  .object({
    id: z.uuid(),
    kind: z.enum(['order', 'member', 'delivery', 'verification']),
    audience: z.enum(['customer', 'store']),
    subject: z.string(),
    reference: z.string().nullable().meta({ description: 'The order, member or job it is about' }),
    eventId: z.uuid().nullable(),
    mail: z
      .enum(['off', 'pending', 'sent', 'no_address', 'failed'])
      .meta({ description: 'off: no mail server was configured' }),
    createdAt: instant(),
    sentAt: instant().nullable(),
  })
  .meta({ id: 'Notification' });

export type NotificationRow = z.input<typeof NotificationView>;

export const showNotification = (row: NotificationRow): NotificationRow => ({
  ...row,
  createdAt: isoOf(row.createdAt),
  sentAt: isoOrNull(row.sentAt),
});
