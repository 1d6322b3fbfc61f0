/** Typed HTTP clients of the six services; the README has examples. */
export { apiKey, bearer, cookieSession, requestSignature, type Credential } from './credentials.ts';
export { iterateChanges, iteratePageIndex, iteratePageLimit, iterateSkipTake } from './pages.ts';
export { ApiError, unwrap, type ApiResult } from './result.ts';
export {
  consignments,
  questService,
  storeWebhooks,
  taskManager,
  verifyProjects,
  walletOperator,
  type ServiceClient,
} from './services.ts';
/**
 * The named schemas of each service's OpenAPI document, for example `TaskManager['schemas']['Task']`, and its operations
 * by their operationId, for example `TaskManagerOperations['getTask']`.
 */
export type {
  components as Consignments,
  operations as ConsignmentsOperations,
} from './generated/consignments.ts';
export type {
  components as QuestService,
  operations as QuestServiceOperations,
} from './generated/quest-service.ts';
export type {
  components as StoreWebhooks,
  operations as StoreWebhooksOperations,
} from './generated/store-webhooks.ts';
export type {
  components as TaskManager,
  operations as TaskManagerOperations,
} from './generated/task-manager.ts';
export type {
  components as VerifyProjects,
  operations as VerifyProjectsOperations,
} from './generated/verify-projects.ts';
export type {
  components as WalletOperator,
  operations as WalletOperatorOperations,
} from './generated/wallet-operator.ts';
