import { feedCodes } from '@platform/feed';
import { subscriptionCodes } from '@platform/outgoing-webhooks';
import type { ProblemCodes } from '@platform/service-kit/openapi';

/** The codes of problems that some operations have; `app.ts` puts them into the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  ...subscriptionCodes,
  ...feedCodes('quests'),
  publishQuest: { 409: ['not_publishable', 'draft_outdated'] },
  replaceQuestions: { 409: ['draft_outdated'] },
  addQuestion: { 409: ['quest_full', 'question_exists', 'draft_outdated'] },
  replaceQuestion: { 409: ['draft_outdated'] },
  deleteQuestion: { 409: ['draft_outdated'] },
  importQuest: { 409: ['draft_outdated'] },
  exportQuest: { 409: ['quest_too_large'] },
};
