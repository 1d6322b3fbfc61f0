import { Conflict } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { and, eq, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { notifications } from '../db/tables.ts';
import { exactly } from '../records/filters.ts';
import { declareList } from '../records/list.ts';
import { viewOf } from '../records/view.ts';
import { StorePath } from '../stores/routes.ts';
import { knownStore } from '../stores/use-cases.ts';
import { isWanted } from './notice.ts';

const NotificationView = viewOf(
  'Notification',
  notifications,
  'id kind audience change subject reference eventId mail createdAt sentAt',
  {
    change:
      'The status of the order or verification, or the step of the delivery; for a member: created or changed',
    reference: 'Id of the order, member, job or verification that it is about',
    mail: 'off: the store does not want it, no mail server was configured, or the address had already got 50 mails of the store that day; no_address: the recipient has no address',
    sentAt: 'When it was last sent',
  },
);

export const notificationList = declareList({
  table: notifications,
  latest: notifications.id,
  name: 'notifications',
  tag: 'Notifications',
  summary: 'Notifications, newest first',
  description: 'To customers and to the shop.',
  view: NotificationView,
  filters: { reference: exactly(notifications.reference, 'Id of the order, member, job or verification') },
});

/** Maximum number of resends of one mail, however often callers request it. */
const maxResends = 10;

/**
 * Queues the mail of a notification again, or for the first time; a queued mail stays as it is. Throws NotFound, and Conflict
 * if no mail server is configured, if the store does not want the mail, or if it was already resent ten times.
 */
const resend = async (context: Context, storeId: string, id: string) => {
  const {
    env,
    database: { orm },
  } = context;
  const isRequested = and(eq(notifications.storeId, storeId), eq(notifications.id, id));
  const [row] = await orm.select().from(notifications).where(isRequested);
  const notification = orNotFound(row, 'notification');
  if (env.SMTP_URL === undefined)
    throw new Conflict('mail_off', 'No mail server is configured: set SMTP_URL, then send it again.');
  const { settings } = await knownStore(context, storeId);
  if (!isWanted(settings.notifications, notification))
    throw new Conflict('mail_unwanted', 'The store has turned this mail off: see its `notifications`.');
  if (notification.resends >= maxResends && notification.mail === 'sent')
    throw new Conflict('too_many_resends', `A mail can be resent at most ${maxResends} times.`);
  const [changed] = await orm
    .update(notifications)
    .set({
      mail: 'pending',
      attempts: 0,
      error: null,
      dueAt: sql`now()`,
      // Mail servers drop a second mail with the same Message-ID.
      resends: sql`${notifications.resends} + (${notifications.mail} = 'sent')::int`,
    })
    .where(and(isRequested, ne(notifications.mail, 'pending')))
    .returning();
  return changed ?? notification;
};

export const resendRoute = (context: Context): Route =>
  route(
    {
      method: 'post',
      path: '/v1/stores/{storeId}/notifications/{notificationId}/resend',
      operationId: 'resendNotification',
      tag: 'Notifications',
      summary: 'Send the mail of a notification again',
      description: 'The address of the recipient is looked up again.',
      auth: allow(context, 'stores:write'),
      params: StorePath.extend({ notificationId: z.uuid().meta({ description: 'The notification' }) }),
      responses: { 202: { description: 'It will be sent', body: NotificationView } },
      problems: [404, 409],
    },
    async ({ params }) => ({
      status: 202,
      body: { ...(await resend(context, params.storeId, params.notificationId)), storeId: undefined },
    }),
  );
