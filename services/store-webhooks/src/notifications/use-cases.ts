import type { Page } from '@platform/pagination/page-limit';
import type { Context } from '../context.ts';
import { pageOfRecords } from '../stores/use-cases.ts';
import type { NotificationRow } from './schema.ts';
import { listNotifications } from './store.ts';

export const pageOfNotifications = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<NotificationRow>(context, storeId, page, listNotifications);
