import type { Page } from '@platform/pagination/page-limit';
import { NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { pageOfRecords } from '../stores/use-cases.ts';
import type { JobRow } from './schema.ts';
import { findJob, listJobs } from './store.ts';

export const pageOfJobs = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<JobRow>(context, storeId, page, listJobs);

export const getJob = async ({ database }: Context, storeId: string, id: string): Promise<JobRow> => {
  const row = await findJob(database.sql, storeId, id);
  if (row === undefined) throw new NotFound('delivery job');
  return row;
};
