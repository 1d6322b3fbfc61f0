import type { Page } from '@platform/pagination/page-limit';
import type { Context } from '../context.ts';
import { pageOfRecords } from '../stores/use-cases.ts';
import type { ImportJobRow, MemberRow } from './schema.ts';
import { listImportJobs, listMembers } from './store.ts';

export const pageOfMembers = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<MemberRow>(context, storeId, page, listMembers);

export const pageOfImportJobs = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<ImportJobRow>(context, storeId, page, listImportJobs);
