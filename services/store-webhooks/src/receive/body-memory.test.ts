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
  for (const store of ['a', 'b', 'c', 'd']) expect(fill(memory, store, '192.0.2.1')).toBe(8);
  expect(fill(memory, 'e', '192.0.2.1')).toBe(0);
  expect(fill(memory, 'e', '192.0.2.2')).toBe(8);
  expect(memory.bytes).toBe(40 * mebibyte);
});

test('two networks that send to all stores leave memory to a third', () => {
  const memory = createBodyMemory(64 * mebibyte);
  for (let store = 0; store < 20; store++)
    for (const network of ['192.0.2.1', '192.0.2.2']) fill(memory, `store ${store}`, network);
  expect(fill(memory, 'a', '192.0.2.3')).toBeGreaterThan(2);
});

test('a network takes at most half of the share of a store, and three leave something to a fourth', () => {
  const memory = createBodyMemory(64 * mebibyte);
  expect(['1', '2', '3', '4', '5'].map((network) => fill(memory, 'a', network))).toEqual([8, 4, 2, 2, 0]);
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
