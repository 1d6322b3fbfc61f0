import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { NotificationView, showNotification } from './schema.ts';
import { pageOfNotifications } from './use-cases.ts';

export const notificationRoutes = (context: Context): Route[] => [
  storeList(context, {
    name: 'notifications',
    path: 'notifications',
    tag: 'Notifications',
    summary: 'What customers and the shop were told, newest first',
    item: NotificationView,
    page: pageOfNotifications,
    show: showNotification,
  }),
];
