/** The whole database schema, by concern. */
export { idempotencyKeys } from '@platform/service-kit/idempotency';
export * from './accounts.ts';
export * from './mails.ts';
export * from './tasks.ts';
