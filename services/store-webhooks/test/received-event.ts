import type { ReceivedEvent } from '../src/inbox/event.ts';

/** Creates a received event. */
export const receivedEventOf = (fields: Partial<ReceivedEvent> = {}): ReceivedEvent => ({
  storeId: '01980000-0000-7000-8000-000000000001',
  id: '01980000-0000-7000-8000-000000000002',
  event: 'order_updated',
  service: null,
  entity: 'order:1',
  dedup: '01'.repeat(24),
  byContent: true,
  body: Buffer.from('{"id":1}'),
  headers: {},
  receivedAt: new Date('2026-11-22T00:00:00Z'),
  state: 'pending',
  error: null,
  holdMs: 0,
  ...fields,
});
