import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCpuShare } from './cpu-share.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A runner and a clock that only work and `wait` move. */
const setUp = () => {
  let time = 0;
  const run = createCpuShare({ share: 0.5, burstMs: 20, now: () => time });
  const done: string[] = [];
  return {
    done,
    run,
    work: (group: string, ms: number, name = group) =>
      run(group, () => {
        time += ms;
        done.push(name);
        return name;
      }),
    wait: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed++) {
        time += 1;
        vi.advanceTimersByTime(1);
        await setImmediate();
      }
    },
  };
};

test('work runs at once and synchronously while it takes less than its share', async () => {
  const { work, done, wait } = setUp();
  for (let at = 0; at < 10; at++) {
    void work('a', 8);
    expect(done).toHaveLength(at + 1);
    await wait(8);
  }
});

test('work beyond its share waits, and takes half of the time', async () => {
  const { work, done, wait } = setUp();
  for (let at = 0; at < 100; at++) void work('a', 10);
  await wait(500);
  // 500 ms of other work were possible meanwhile.
  expect(done.length).toBeGreaterThan(45);
  expect(done.length).toBeLessThan(56);
});

test('groups take turns, so that a group with much work delays only itself', async () => {
  const { work, done, wait } = setUp();
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2'].map((name) => work(name.charAt(0), 50, name));
  await wait(1000);
  expect(done).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4', 'a5']);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2']);
});

test('an error of the work, thrown or rejected, reaches its caller, and later work runs', async () => {
  const { run, work, wait } = setUp();
  const fail = (): never => {
    throw new Error('not readable');
  };
  await expect(run('a', fail)).rejects.toThrow('not readable');
  void work('a', 100);
  const waiting = [run('a', fail), run('a', () => Promise.reject(new Error('no answer'))), work('a', 1)];
  const results = Promise.allSettled(waiting);
  await wait(500);
  expect(await results).toMatchObject([
    { status: 'rejected', reason: { message: 'not readable' } },
    { status: 'rejected', reason: { message: 'no answer' } },
    { status: 'fulfilled', value: 'a' },
  ]);
});

test('waiting work runs in the asynchronous context of its caller, for example in its request', async () => {
  const { run, work, wait } = setUp();
  const context = new AsyncLocalStorage<string>();
  void work('a', 100);
  const results = ['b', 'c'].map((name) => context.run(name, () => run(name, () => context.getStore())));
  await wait(300);
  expect(await Promise.all(results)).toEqual(['b', 'c']);
});
