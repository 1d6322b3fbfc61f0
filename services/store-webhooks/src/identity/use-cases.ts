import type { Page } from '@platform/pagination/page-limit';
import { NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { pageOfRecords } from '../stores/use-cases.ts';
import type { VerificationRow } from './schema.ts';
import { findVerification, listVerifications } from './store.ts';

export const pageOfVerifications = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<VerificationRow>(context, storeId, page, listVerifications);

export const getVerification = async (
  { database }: Context,
  storeId: string,
  transactionId: string,
  service?: string,
): Promise<VerificationRow> => {
  const row = await findVerification(database.sql, storeId, transactionId, service);
  if (row === undefined) throw new NotFound('verification');
  return row;
};
