import { expect, test } from 'vitest';
import { createIds } from './ids.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

test('ids are UUIDs of version 7 that contain their time', () => {
  for (const id of createIds()(50, now)) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now.getTime());
  }
});

test('each id is greater than all before it, even if the clock stops or is set back', () => {
  const idsOf = createIds();
  const ids = [0, 1, 1, 0, -50, 2].flatMap((ms) => idsOf(2000, new Date(now.getTime() + ms)));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(12_000);
});

test('two imports at the same time have no id in common', () => {
  const ids = Array.from({ length: 20 }, () => createIds()(2000, now)).flat();
  expect(new Set(ids).size).toBe(40_000);
});
