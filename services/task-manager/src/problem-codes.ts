import { feedCodes } from '@platform/feed';
import type { ProblemCodes } from '@platform/service-kit/openapi';

/** Problem codes that are specific to an operation; `app.ts` adds them to the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  ...feedCodes('tasks'),
  changeTask: { 403: ['role_required'] },
  deleteTask: { 403: ['role_required'] },
  reauthenticate: { 403: ['wrong_password'] },
  exportAccount: { 403: ['reauthentication_required'] },
  deleteAccount: { 403: ['reauthentication_required'] },
  changePassword: { 403: ['wrong_password'] },
  requestPasswordReset: { 409: ['mail_off'] },
  resetPassword: { 409: ['mail_off'] },
  requestVerification: { 409: ['mail_off'] },
  requestEmailChange: { 403: ['wrong_password', 'reauthentication_required'], 409: ['mail_off'] },
  confirmEmail: { 409: ['email_taken', 'mail_off'] },
  login: { 403: ['email_not_verified', 'account_locked'] },
  refresh: { 403: ['email_not_verified'] },
  register: { 409: ['email_taken'] },
  listTasks: { 404: ['not_found'] },
  createTask: { 403: ['role_required'], 404: ['not_found'], 409: ['too_many_tasks'] },
  batchTasks: { 409: ['batch_refused'] },
  createList: { 409: ['too_many_lists'] },
  changeList: { 403: ['role_required'], 409: ['last_owner', 'too_many_members'] },
  deleteList: { 403: ['role_required'] },
  getInvitations: { 403: ['role_required'] },
  joinList: { 409: ['too_many_lists'] },
};

/** Problem codes of operations that exist only if the service accepts operators' tokens. */
export const operatorProblemCodes: ProblemCodes = { sendPasswordReset: { 409: ['mail_off'] } };
