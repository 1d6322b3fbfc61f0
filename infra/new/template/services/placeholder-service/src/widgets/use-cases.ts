import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { findWidget, findWidgets, insertWidget, type WidgetRow } from './store.ts';

export const createWidget = async (
  ctx: Context,
  { name, widgetId = v7() }: { name: string; widgetId?: string },
): Promise<WidgetRow> => {
  const widget = { widgetId, name, createdAt: ctx.now() };
  await insertWidget(ctx.database, widget);
  return widget;
};

export const listWidgets = async (ctx: Context, { offset, limit }: Page): Promise<Slice<WidgetRow>> =>
  slice(await findWidgets(ctx.database, { offset, limit: limit + 1 }), limit);

export const findOrUndefined = (ctx: Context, widgetId: string): Promise<WidgetRow | undefined> =>
  findWidget(ctx.database, widgetId);

export const getWidget = async (ctx: Context, widgetId: string): Promise<WidgetRow> => {
  const widget = await findOrUndefined(ctx, widgetId);
  if (widget === undefined) throw new NotFound('widget');
  return widget;
};
