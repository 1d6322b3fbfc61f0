import { windowOf } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { findQuest, findQuests, insertQuest, quests, saveQuest } from './queries.ts';
import { ListQuery, Quest, QuestInput, QuestPatch, QuestPath } from './schema.ts';

export const questRoutes = ({ draftReader, writer, database: { sql }, versions }: Context): Route[] =>
  record({
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
      page: async (query, { caller }) =>
        `[${(await findQuests(sql, windowOf(query), caller !== undefined)).join(',')}]`,
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
