import { expect, test } from 'vitest';
import { idsOf } from './ids.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

test('ids are UUIDs of version 7 that carry their moment', () => {
  for (const id of idsOf(50, now)) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now.getTime());
  }
});

test('each is greater than the one before it, and no two of many batches of one moment are alike', () => {
  const batches = Array.from({ length: 20 }, () => idsOf(2000, now));
  for (const ids of batches) expect(ids).toEqual(ids.toSorted());
  expect(new Set(batches.flat()).size).toBe(40_000);
});
