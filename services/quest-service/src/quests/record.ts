import { windowOf } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { readPageOf } from '../large-pages.ts';
import { findQuest, findQuests, insertQuest, quests, saveQuest, sizeOfQuests } from './queries.ts';
import { ListQuery, Quest, QuestInput, QuestPatch, QuestPath } from './schema.ts';

export const questRoutes = (context: Context): Route[] => {
  const { draftReader, writer, database, versions } = context;
  const { sql } = database;
  return record({
    path: '/quests',
    basePath: '/v1',
    params: QuestPath,
    tag: 'Quests',
    name: 'quest',
    schema: Quest,
    read: draftReader,
    write: writer,
    sql,
    list: {
      summary: 'Quests, newest first',
      description: 'Without their questions; drafts only with the scope quests:read.',
      query: ListQuery,
      anyCaseQuery: true,
      body: z.array(Quest),
      page: async (query, { caller }) => {
        const args = [sql, windowOf(query), caller !== undefined] as const;
        const items = await readPageOf(context, await sizeOfQuests(...args), () => findQuests(...args));
        return `[${items.join(',')}]`;
      },
    },
    find: (on, { params: { questId }, caller }, lock) => findQuest(on, questId, lock, caller !== undefined),
    create: {
      input: QuestInput,
      example: { title: 'Breakfast' },
      insert: (on, { draft, ...quest }) => insertQuest(on, { ...quest, published: !draft }),
    },
    change: {
      patch: QuestPatch,
      example: { title: 'Hiking' },
      save: (on, patch, { params: { questId } }) => saveQuest(on, questId, patch),
    },
    remove: { delete: (on, { params: { questId } }) => quests.remove(on, { quest_id: questId }) },
    // Once this has resolved, no instance returns the old version.
    committed: ({ params: { questId } }) => versions.invalidate(questId),
  });
};
