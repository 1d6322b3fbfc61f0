import type { ProblemCodes } from '@platform/service-kit/openapi';

/** The codes of problems that some operations have; `app.ts` puts them into the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  changeTask: { 403: ['role_required'] },
  deleteTask: { 403: ['role_required'] },
  register: { 409: ['email_taken'] },
  listTasks: { 404: ['not_found'] },
  createTask: {
    403: ['role_required'],
    404: ['not_found'],
    409: ['too_many_tasks', 'too_many_idempotency_keys'],
  },
  createList: { 409: ['too_many_lists', 'too_many_idempotency_keys'] },
  changeList: { 403: ['role_required'], 409: ['last_owner', 'too_many_members'] },
  deleteList: { 403: ['role_required'] },
  getInvitations: { 403: ['role_required'] },
  joinList: { 409: ['too_many_lists'] },
};
