import { expect, test } from 'vitest';
import { createUnsettledLimit } from './unsettled-limit.ts';

const MiB = 2 ** 20;

test('of a network, bodies of a MiB are stored in a day, and of a store twenty', async () => {
  const limit = createUnsettledLimit(undefined);
  const begin = (network: string) => limit.begin('store', network, MiB + 1024);
  /** Begins one that does not count. */
  const isStored = (network: string): boolean => {
    const begun = begin(network);
    begun?.end(true);
    return begun !== undefined;
  };
  begin('a')?.end(false);
  await expect.poll(() => isStored('a')).toBe(false);
  expect(isStored('b')).toBe(true);
  for (let other = 0; other < 19; other += 1) begin(`b${other}`)?.end(false);
  await expect.poll(() => isStored('c')).toBe(false);
  expect(limit.begin('other store', 'c', MiB)).toBeDefined();
});

test('what settles a payment does not count', () => {
  const limit = createUnsettledLimit(undefined);
  for (let time = 0; time < 30; time += 1) {
    const begun = limit.begin('store', 'a', MiB);
    expect(begun).toBeDefined();
    begun?.end(true);
  }
});
