import type { Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { isoOf, isoOrNull } from '../time.ts';

const NotificationView = z
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

type NotificationRow = z.input<typeof NotificationView>;

export const notificationRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  return [
    storeList<NotificationRow, typeof NotificationView>(context, {
      name: 'notifications',
      path: 'notifications',
      tag: 'Notifications',
      summary: 'What customers and the shop were told, newest first',
      item: NotificationView,
      rows: (store) => sql`
        select id, kind, audience, subject, reference, event_id as "eventId", mail,
          created_at as "createdAt", sent_at as "sentAt"
        from notifications where store_id = ${store} order by id desc`,
      show: (row) => ({ ...row, createdAt: isoOf(row.createdAt), sentAt: isoOrNull(row.sentAt) }),
    }),
  ];
};
