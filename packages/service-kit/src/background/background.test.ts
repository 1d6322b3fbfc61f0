import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { captureLog } from '../testing/log.ts';
import { startBackground } from './background.ts';

const start = (run: () => Promise<boolean | void>, everyMs = 1) => {
  const { log, lines } = captureLog();
  return { lines, ...startBackground({ name: 'fold', everyMs, log, run }) };
};

test('runs repeatedly, and never concurrently', async () => {
  let [runs, running, maxRunning] = [0, 0, 0];
  await using task = start(async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await nextTurn();
    running--;
    runs++;
  });
  task.wake();
  task.wake();
  await expect.poll(() => runs).toBeGreaterThan(3);
  expect(maxRunning).toBe(1);
});

test('runs again without a pause while there is more to do, and at once when woken', async () => {
  let runs = 0;
  await using task = start(async () => ++runs < 5, 3_600_000);
  await expect.poll(() => runs).toBe(5);
  task.wake();
  await expect.poll(() => runs).toBe(6);
});

test('after a run without work the next one waits for the idle time, unless `wake` or `hint` is called', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let [runs, work] = [0, 0];
  const { log } = captureLog();
  await using task = startBackground({
    name: 'fold',
    everyMs: 100,
    idleMs: 10_000,
    log,
    run: async () => (runs++, work-- > 0 ? undefined : false),
  });
  const runsAfter = async (ms: number): Promise<number> => (await vi.advanceTimersByTimeAsync(ms), runs);
  expect(await runsAfter(7000)).toBe(1);
  expect(await runsAfter(6000)).toBe(2);
  await runsAfter(125);
  task.hint();
  expect(await runsAfter(0)).toBe(3);
  for (let hints = 0; hints < 100; hints++, await runsAfter(10)) task.hint();
  expect(runs).toBeLessThanOrEqual(3 + 1000 / 75);
  expect(runs).toBeGreaterThanOrEqual(3 + Math.floor(1000 / 125));
  const woken = runs + 1;
  task.wake();
  expect(await runsAfter(0)).toBe(woken);
  work = 3;
  task.wake();
  // Three runs that found work are followed by short pauses.
  expect(await runsAfter(3 * 125)).toBeGreaterThanOrEqual(woken + 3);
});

test('with `pauseFirst` the first run comes after a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let runs = 0;
  const run = async () => void runs++;
  await using _task = startBackground({
    name: 'fold',
    everyMs: 1000,
    pauseFirst: true,
    log: captureLog().log,
    run,
  });
  await vi.advanceTimersByTimeAsync(749);
  expect(runs).toBe(0);
  await vi.advanceTimersByTimeAsync(502);
  expect(runs).toBe(1);
});

test('a failing task is logged at its first failure and when it works again', async () => {
  let runs = 0;
  await using task = start(async () => {
    if (++runs < 5) throw new Error('unavailable');
  });
  await expect.poll(() => runs).toBeGreaterThan(6);
  const messages = task.lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).toEqual(['background task failed', 'background task works again']);
});

test('disposal waits for the current run and starts no other', async () => {
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
