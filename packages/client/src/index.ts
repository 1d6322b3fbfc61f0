/** Typed HTTP clients of the six services; the README has examples. */
export { apiKey, bearer, cookieSession, requestSignature, type Credential } from './credentials.ts';
export { CursorGoneError, exportList, followChanges, type FeedQuery, type FollowOptions } from './feed.ts';
export { iterateChanges, iteratePageIndex, iteratePageLimit, iterateSkipTake } from './pages.ts';
export { ApiError, unwrap, type ApiResult } from './result.ts';
export type { ServiceClient, TextBody } from './client.ts';
/**
 * Exports for each service: a function that creates its client, the named schemas of its OpenAPI document
 * (`TaskManager['schemas']['Task']`) and its operations by operationId (`TaskManagerOperations['getTask']`).
 */
export * from './generated/index.ts';
