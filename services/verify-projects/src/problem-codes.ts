import { feedCodes } from '@platform/feed';
import { subscriptionCodes } from '@platform/outgoing-webhooks';
import type { ProblemCodes } from '@platform/service-kit/openapi';

/** The codes of problems that some operations have; `app.ts` puts them into the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  ...subscriptionCodes,
  ...feedCodes('projects', 'deliverables', 'languages'),
  createDeliverable: { 409: ['too_many_deliverables'], 422: ['language_not_in_project'] },
  changeDeliverable: { 422: ['language_not_in_project'] },
  changeProject: { 409: ['client_has_keys'], 422: ['language_not_in_project'] },
  deleteProject: { 409: ['not_archived'] },
  createApiKey: { 409: ['idempotency_key_used'] },
  rotateApiKey: { 409: ['key_inactive', 'idempotency_key_used'] },
};
