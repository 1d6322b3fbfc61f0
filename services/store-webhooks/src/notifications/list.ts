import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { mailStates, notifications, notificationKinds } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';

const NotificationView = z
  .object({
    id: z.uuid(),
    kind: z.enum(notificationKinds),
    audience: z.enum(['customer', 'store']),
    subject: z.string(),
    reference: z.string().nullable().meta({ description: 'The order, member or job it is about' }),
    eventId: z.uuid().nullable(),
    mail: z.enum(mailStates).meta({ description: 'off: no mail server was configured' }),
    createdAt: instant(),
    sentAt: instant().nullable(),
  })
  .meta({ id: 'Notification' });

export const notificationList = declareList({
  table: notifications,
  latest: notifications.id,
  name: 'notifications',
  tag: 'Notifications',
  summary: 'Notifications to customers and to the shop, newest first',
  view: NotificationView,
});
