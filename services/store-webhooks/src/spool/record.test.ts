import { expect, test } from 'vitest';
import type { Receipt } from '../inbox/receipt.ts';
import { decodeAll, encode } from './record.ts';

const receipt: Receipt = {
  storeId: '01980000-0000-7000-8000-000000000001',
  id: '01980000-0000-7000-8000-000000000002',
  event: 'order_updated',
  service: null,
  entity: 'order:1',
  dedup: Buffer.alloc(24, 1),
  byContent: true,
  body: Buffer.from('{"id":1}'),
  headers: {},
  receivedAt: new Date('2026-11-22T00:00:00Z'),
  state: 'pending',
  error: null,
  holdMs: 0,
};

test('zeros that a power failure left behind the records are damage, and the records before them are read', () => {
  const file = Buffer.concat([encode(receipt), encode(receipt), Buffer.alloc(4096)]);
  const { receipts, bytes, damaged } = decodeAll(file, 100);
  expect({ receipts, bytes, damaged }).toEqual({
    receipts: [receipt, receipt],
    bytes: 2 * encode(receipt).length,
    damaged: true,
  });
});

test('a record that was cut off is neither read nor damage', () => {
  const file = Buffer.concat([encode(receipt), encode(receipt).subarray(0, 20)]);
  expect(decodeAll(file, 100)).toEqual({
    receipts: [receipt],
    bytes: encode(receipt).length,
    damaged: false,
  });
});
