/** Typed HTTP clients of the six services; the README has examples. */
export { apiKey, bearer, cookieSession, requestSignature, type Credential } from './credentials.ts';
export { iteratePageIndex, iteratePageLimit, iterateSkipTake } from './pages.ts';
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
/** The named schemas of each service's OpenAPI document, for example `TaskManager['schemas']['Task']`. */
export type { components as Consignments } from './generated/consignments.ts';
export type { components as QuestService } from './generated/quest-service.ts';
export type { components as StoreWebhooks } from './generated/store-webhooks.ts';
export type { components as TaskManager } from './generated/task-manager.ts';
export type { components as VerifyProjects } from './generated/verify-projects.ts';
export type { components as WalletOperator } from './generated/wallet-operator.ts';
