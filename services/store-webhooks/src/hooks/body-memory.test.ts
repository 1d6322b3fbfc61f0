import { expect, test } from 'vitest';
import { createBodyMemory } from './body-memory.ts';

const mebibyte = 2 ** 20;
const large = Buffer.alloc(mebibyte);

/** Opens reservations and adds a large body to each until one is refused. Returns how many were accepted. */
const fill = (memory: ReturnType<typeof createBodyMemory>, store: string, network: string): number => {
  for (let accepted = 0; ; accepted++) {
    try {
      memory.open(store, network).add(large);
    } catch (error) {
      expect(error).toMatchObject({ status: 503, code: 'too_busy' });
      return accepted;
    }
  }
};

test('a store gets a quarter of the memory, a network half, and what is left serves other stores and networks', () => {
  const memory = createBodyMemory(64 * mebibyte);
  expect(fill(memory, 'a', '192.0.2.1')).toBe(16);
  expect(fill(memory, 'a', '192.0.2.2')).toBe(0);
  expect(fill(memory, 'b', '192.0.2.1')).toBe(16);
  expect(fill(memory, 'c', '192.0.2.1')).toBe(0);
  expect(fill(memory, 'c', '192.0.2.2')).toBe(16);
  expect(fill(memory, 'd', '192.0.2.3')).toBe(16);
  expect(fill(memory, 'e', '192.0.2.4')).toBe(0);
  expect(memory.bytes).toBe(64 * mebibyte);
});

test('what a body has reserved is free again for its store and its network once it is released', () => {
  const memory = createBodyMemory(8 * mebibyte);
  const first = memory.open('a', '192.0.2.1');
  for (const _ of [1, 2]) first.add(large);
  expect(() => first.add(Buffer.alloc(1))).toThrow('Too many webhooks');
  first.release();
  first.release();
  expect(memory.bytes).toBe(0);
  expect(fill(memory, 'a', '192.0.2.1')).toBe(2);
});

test('tiny pieces count with the memory that their buffers take', () => {
  const body = createBodyMemory(8 * mebibyte).open('a', '192.0.2.1');
  const trickle = () => {
    for (let piece = 0; piece < mebibyte; piece++) body.add(Buffer.alloc(1));
  };
  expect(trickle).toThrow('Too many webhooks');
});
