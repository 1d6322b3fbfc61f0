import type { Page } from '@platform/pagination/page-limit';
import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { pageOfRecords, requireStore } from '../stores/use-cases.ts';
import type { NewUser, UserRow } from './schema.ts';
import { insertUser, listUsers } from './store.ts';

export const pageOfUsers = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<UserRow>(context, storeId, page, listUsers);

export const createUser = async (context: Context, storeId: string, user: NewUser): Promise<UserRow> => {
  await requireStore(context, storeId);
  const row = await insertUser(context.database.sql, storeId, user, context.now());
  if (row === undefined) throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
  return row;
};
