import { expect, test } from 'vitest';
import { isFree } from '../ports.ts';
import { freePort } from './free-ports.ts';

test('free ports come from a block of 50 that this process has reserved', async () => {
  const ports = [await freePort(), await freePort()];
  const [first = 0, ...others] = new Set(ports.map((port) => port - ((port - 8_200) % 50)));
  expect(others).toEqual([]);
  expect(await isFree(first)).toBe(false);
});
