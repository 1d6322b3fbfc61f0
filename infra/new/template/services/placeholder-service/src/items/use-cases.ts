import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { findItem, findItems, insertItem, type ItemRow } from './store.ts';

export const createItem = async (
  ctx: Context,
  { name, itemId = v7() }: { name: string; itemId?: string },
): Promise<ItemRow> => {
  const item = { itemId, name, createdAt: ctx.now() };
  await insertItem(ctx.database, item);
  return item;
};

export const listItems = async (ctx: Context, { offset, limit }: Page): Promise<Slice<ItemRow>> =>
  slice(await findItems(ctx.database, { offset, limit: limit + 1 }), limit);

export const findOrUndefined = (ctx: Context, itemId: string): Promise<ItemRow | undefined> =>
  findItem(ctx.database, itemId);

export const getItem = async (ctx: Context, itemId: string): Promise<ItemRow> => {
  const item = await findOrUndefined(ctx, itemId);
  if (item === undefined) throw new NotFound('item');
  return item;
};
