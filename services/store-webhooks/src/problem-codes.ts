import { feedCodes } from '@platform/feed';
import { subscriptionCodes } from '@platform/outgoing-webhooks';
import type { ProblemCodes } from '@platform/service-kit/openapi';
import { followedTables } from './db/followed.ts';

/** The codes of problems that some operations have; `app.ts` puts them into the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  ...feedCodes(...followedTables.map(({ list }) => list)),
  ...subscriptionCodes,
  createStore: { 403: ['limited_to_stores'], 409: ['idempotency_key_used'] },
  changeStore: { 409: ['store_deleted'] },
  restoreStore: { 409: ['store_erased'] },
  rotateWebhookToken: { 409: ['idempotency_key_used', 'store_deleted'] },
  createUser: { 409: ['user_exists', 'store_deleted'] },
  createPayment: { 409: ['payment_exists', 'challenge_taken', 'store_deleted'] },
  resendNotification: { 409: ['mail_off', 'mail_unwanted', 'too_many_resends'] },
  replayEvents: { 409: ['store_deleted'] },
  recheckEvents: { 409: ['store_deleted'] },
  tryMapping: { 409: ['mapping_not_used'] },
  tryMappings: { 409: ['mapping_not_used'] },
  replayEvent: { 409: ['event_erased', 'event_refused', 'store_deleted'] },
  recheckEvent: { 409: ['event_erased', 'event_not_refused', 'store_deleted'] },
  dismissEvent: { 409: ['event_not_failed'] },
};
