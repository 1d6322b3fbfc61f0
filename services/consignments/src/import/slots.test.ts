import { expect, test } from 'vitest';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import { importLimits, readerLimits } from './slots.ts';

test.each([
  ['reads two results at the same time, a network five, all callers ten', readerLimits],
  ['runs ten imports at the same time, a network twenty, all callers forty', importLimits],
])('a caller %s', async (_, limits) => {
  const withSlot = createFairSlots({ ...limits, preemptible: false });
  const tooMany = { code: limits.code, status: 503 };
  const start = (caller: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { running: withSlot(caller, () => promise, caller), resolve };
  };
  const running = ['a', 'b', 'c'].flatMap((caller) =>
    Array.from({ length: limits.maxPerCaller }, () => start(caller)),
  );
  await expect(start('a').running).rejects.toMatchObject(tooMany);
  while (running.length < limits.max) running.push(start(`other ${running.length}`));
  await expect(start('d').running).rejects.toMatchObject(tooMany);
  running[0]?.resolve();
  await running[0]?.running;
  running.push(start('a'));
  for (const { resolve } of running) resolve();
  await Promise.all(running.map((work) => work.running));
});

test('work that fails frees its slot', async () => {
  const withSlot = createFairSlots({ ...readerLimits, max: 1 });
  const fail = () => withSlot('a', () => Promise.reject(new Error('gone')));
  for (const _ of [1, 2]) await expect(fail()).rejects.toThrow('gone');
});
