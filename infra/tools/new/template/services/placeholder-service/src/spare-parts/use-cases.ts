import { type Page, type Slice, slice } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { findSparePart, findSpareParts, insertSparePart, type SparePartRow } from './queries.ts';

export const createSparePart = async (
  ctx: Context,
  { name, sparePartId = v7() }: { name: string; sparePartId?: string },
): Promise<SparePartRow> => {
  const sparePart = { sparePartId, name, createdAt: ctx.now() };
  await insertSparePart(ctx.database, sparePart);
  return sparePart;
};

export const listSpareParts = async (ctx: Context, { offset, limit }: Page): Promise<Slice<SparePartRow>> =>
  slice(await findSpareParts(ctx.database, { offset, limit: limit + 1 }), limit);

export const findOrUndefined = (ctx: Context, sparePartId: string): Promise<SparePartRow | undefined> =>
  findSparePart(ctx.database, sparePartId);

export const getSparePart = async (ctx: Context, sparePartId: string): Promise<SparePartRow> => {
  const sparePart = await findOrUndefined(ctx, sparePartId);
  if (sparePart === undefined) throw new NotFound('spare part');
  return sparePart;
};
