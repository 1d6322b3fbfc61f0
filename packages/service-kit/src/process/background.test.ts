import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { captureLog } from '../testing/log.ts';
import { startBackground } from './background.ts';

const start = (run: () => Promise<boolean | void>, everyMs = 1) => {
  const { log, lines } = captureLog();
  return { lines, ...startBackground({ name: 'fold', everyMs, log, run }) };
};

test('runs again and again, and never twice at once', async () => {
  let [runs, running, most] = [0, 0, 0];
  await using task = start(async () => {
    most = Math.max(most, ++running);
    await nextTurn();
    running--;
    runs++;
  });
  task.wake();
  task.wake();
  await expect.poll(() => runs).toBeGreaterThan(3);
  expect(most).toBe(1);
});

test('runs again without a pause while there is more to do, and at once when woken', async () => {
  let runs = 0;
  await using task = start(async () => ++runs < 5, 3_600_000);
  await expect.poll(() => runs).toBe(5);
  task.wake();
  await expect.poll(() => runs).toBe(6);
});

test('a failing task is logged when it begins to fail and when it works again', async () => {
  let runs = 0;
  await using task = start(async () => {
    if (++runs < 5) throw new Error('away');
  });
  await expect.poll(() => runs).toBeGreaterThan(6);
  const messages = task.lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).toEqual(['background task failed', 'background task works again']);
});

test('disposal waits for the run that is under way and starts no other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const task = start(async () => {
    runs++;
    await gate.promise;
  });
  expect(runs).toBe(1);
  const disposed = task[Symbol.asyncDispose]();
  gate.resolve();
  await disposed;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(1);
});
