import { expect, test } from 'vitest';
import { receivedEventOf } from '../../../test/received-event.ts';
import { decodeAll, encode } from './file.ts';

const receipt = receivedEventOf();

test('zeros that a power failure left behind the records are damage, and the records before them are read', () => {
  const file = Buffer.concat([encode(receipt), encode(receipt), Buffer.alloc(4096)]);
  const { events, bytes, damaged } = decodeAll(file, 100);
  expect({ events, bytes, damaged }).toEqual({
    events: [receipt, receipt],
    bytes: 2 * encode(receipt).length,
    damaged: true,
  });
});

test('a record that was cut off is neither read nor damage', () => {
  const file = Buffer.concat([encode(receipt), encode(receipt).subarray(0, 20)]);
  expect(decodeAll(file, 100)).toEqual({
    events: [receipt],
    bytes: encode(receipt).length,
    damaged: false,
  });
});
