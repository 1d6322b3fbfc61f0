import { randomUUID } from 'node:crypto';
import { bearer, iterateSkipTake, questService, unwrap } from '@platform/client';
import type { Actor } from '../actor.ts';
import { callTimeout, persistOnce } from '../wait.ts';

/** Writes a quest, question by question. Each question gets its id here, so that a repeated call adds nothing. */
export const author = (url: string, token: string): Actor => {
  const quests = questService(url, callTimeout, bearer(token));
  const written: string[] = [];
  let questId: string | undefined;
  return {
    name: 'author',
    pace: 60,
    step: async () => {
      questId ??= (await unwrap(quests.POST('/quests', { body: { title: 'A crash test' } }))).questId;
      const params = { path: { questId } };
      const id = randomUUID();
      const titles = [{ languageCode: 'en-US', title: `Question ${written.length + 1}?` }];
      const body = { questionId: id, type: 'OPEN_TEXT' as const, presentation: 'VERTICAL' as const, titles };
      await persistOnce(() => unwrap(quests.POST('/quests/{questId}/questions', { params, body })));
      written.push(id);
    },
    verify: async () => {
      if (questId === undefined) return ['author: no quest could be created'];
      const path = { questId };
      const listed: string[] = [];
      const list = iterateSkipTake((query) =>
        questService(url).GET('/quests/{questId}/questions', { params: { path, query } }),
      );
      for await (const question of list) listed.push(question.questionId);
      return listed.join() === written.join()
        ? []
        : [`author: the list (${listed.length} questions) differs from the ${written.length} written`];
    },
  };
};
