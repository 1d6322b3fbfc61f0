import { expect, test } from 'vitest';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import { importBounds, readerBounds } from './places.ts';

test.each([
  ['reads two results at the same time, a network five, all callers ten', readerBounds],
  ['runs ten imports at the same time, a network twenty, all callers forty', importBounds],
])('a caller %s', async (_, bounds) => {
  const within = createFairSlots({ ...bounds, preemptible: false });
  const tooMany = { code: bounds.code, status: 503 };
  const begin = (caller: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { running: within(caller, () => promise, caller), resolve };
  };
  const running = ['a', 'b', 'c'].flatMap((caller) =>
    Array.from({ length: bounds.maxPerCaller }, () => begin(caller)),
  );
  await expect(begin('a').running).rejects.toMatchObject(tooMany);
  while (running.length < bounds.max) running.push(begin(`other ${running.length}`));
  await expect(begin('d').running).rejects.toMatchObject(tooMany);
  running[0]?.resolve();
  await running[0]?.running;
  running.push(begin('a'));
  for (const { resolve } of running) resolve();
  await Promise.all(running.map((each) => each.running));
});

test('work that fails frees its place', async () => {
  const within = createFairSlots({ ...readerBounds, max: 1 });
  const fails = () => within('a', () => Promise.reject(new Error('gone')));
  for (const _ of [1, 2]) await expect(fails()).rejects.toThrow('gone');
});
