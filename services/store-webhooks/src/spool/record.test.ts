import { expect, test } from 'vitest';
import { receiptOf } from '../../test/receipt.ts';
import { decodeAll, encode } from './record.ts';

const receipt = receiptOf();

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
