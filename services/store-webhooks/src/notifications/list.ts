import { notifications } from '../db/tables.ts';
import { declareList, exactly } from '../records/list.ts';
import { viewOf } from '../records/view.ts';

export const NotificationView = viewOf(
  'Notification',
  notifications,
  'id kind audience subject reference eventId mail createdAt sentAt',
  {
    reference: 'The order, member or job it is about',
    mail: 'off: no mail server was configured; no_address: the recipient has no address',
    sentAt: 'When it was sent last',
  },
);

export const notificationList = declareList({
  table: notifications,
  latest: notifications.id,
  name: 'notifications',
  tag: 'Notifications',
  summary: 'Notifications to customers and to the shop, newest first',
  view: NotificationView,
  filters: { reference: exactly(notifications.reference, 'Id of the order, member or job') },
});
