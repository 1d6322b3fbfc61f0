import type { Database } from '@platform/service-kit/db';
import { desc, eq } from 'drizzle-orm';
import { widgets } from '../db/tables.ts';

export type WidgetRow = typeof widgets.$inferSelect;

export const findWidget = async ({ orm }: Database, widgetId: string): Promise<WidgetRow | undefined> => {
  const [row] = await orm.select().from(widgets).where(eq(widgets.widgetId, widgetId));
  return row;
};

/** Newest first. */
export const findWidgets = (
  { orm }: Database,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<WidgetRow[]> =>
  orm.select().from(widgets).orderBy(desc(widgets.widgetId)).offset(Number(offset)).limit(limit);

export const insertWidget = async ({ orm }: Database, widget: WidgetRow): Promise<void> => {
  await orm.insert(widgets).values(widget);
};
