import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { ListQuery, Quest, QuestInput, QuestPatch, QuestPath } from './schema.ts';
import { questsOf } from './use-cases.ts';

export const questRoutes = (ctx: Context): Route[] => {
  const { page, find, insert, save, remove, committed } = questsOf(ctx);
  return record({
    path: '/quests',
    basePath: '/v1',
    params: QuestPath,
    tag: 'Quests',
    name: 'quest',
    schema: Quest,
    read: ctx.reader,
    write: ctx.writer,
    sql: ctx.database.sql,
    list: {
      summary: 'Quests, newest first, without their questions',
      query: ListQuery,
      anyCaseQuery: true,
      body: z.array(Quest),
      page,
    },
    find,
    create: { input: QuestInput, example: { title: 'Breakfast' }, insert },
    change: { patch: QuestPatch, example: { title: 'Hiking' }, save },
    remove: { delete: remove },
    committed,
  });
};
