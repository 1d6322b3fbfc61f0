import { AsyncLocalStorage } from 'node:async_hooks';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { createCpuShare } from './cpu-share.ts';
import { runInRequestScope } from './request-scope.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A runner and a clock that only work and `wait` move. */
const setUp = ({ maxWaiting = 500, lightMs = 0 } = {}) => {
  let time = 0;
  const run = createCpuShare({ share: 0.5, burstMs: 20, maxWaiting, lightMs, now: () => time });
  const done: string[] = [];
  return {
    done,
    run,
    work: (group: string, ms: number, name = group) =>
      run(group.split('/'), () => {
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

test('the group that has used the least time comes first, so that a group with much work delays only itself', async () => {
  const { work, done, wait } = setUp();
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'];
  const all = names.map((name) => work(name.charAt(0), name.startsWith('a') ? 50 : 1, name));
  await wait(1000);
  expect(done).toEqual(['a1', 'b1', 'b2', 'a2', 'a3', 'a4']);
  expect(await Promise.all(all)).toEqual(names);
});

test('a group that has used little runs at once, whatever ten other groups use', async () => {
  const { work, done, wait } = setUp({ lightMs: 150 });
  const heavy = Array.from({ length: 40 }, (_, at) => work(`heavy ${at % 10}`, 75, 'heavy'));
  const atOnce: boolean[] = [];
  for (let at = 0; at < 100; at++) {
    void work('shop', 0.3);
    await setImmediate();
    atOnce.push(done.at(-1) === 'shop');
    await wait(25);
  }
  // The first ones wait, because the first work of each heavy group uses up the overdraft.
  expect(atOnce.slice(60)).toEqual(Array(40).fill(true));
  expect(done.filter((name) => name === 'shop')).toHaveLength(100);
  await wait(10_000);
  await Promise.all(heavy);
});

test('what a group has used is forgotten after some time', async () => {
  const { work, done, wait } = setUp();
  void work('a', 100);
  await wait(60_000);
  void work('b', 50);
  const all = [work('b', 50), work('a', 50), work('a', 50), work('b', 50)];
  await wait(1000);
  expect(done).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  await Promise.all(all);
});

test('work that waits for its own result does not hold up other work', async () => {
  const { run, work, wait } = setUp();
  void work('a', 100);
  const { promise, resolve } = Promise.withResolvers<string>();
  const asking = run(['b'], () => promise);
  const other = work('c', 1);
  await wait(300);
  expect(await other).toBe('c');
  resolve('answer');
  expect(await asking).toBe('answer');
});

/** Calls `work` as a request; returns its response and the result. */
const request = <T>(work: () => Promise<T>) => {
  const [req, res] = [
    new IncomingMessage(new Socket()),
    new ServerResponse(new IncomingMessage(new Socket())),
  ];
  const { promise, resolve } = Promise.withResolvers<T>();
  const client = () => ['n', 'n'];
  const limits = { concurrency: createConcurrencyLimit(1), deadlineMs: 60_000, network: 'n', client };
  runInRequestScope(req, res, limits, () => resolve(work()));
  return { res, result: promise };
};

test('beyond the maximum, the newest request of the group that has used the most is refused, and no background work', async () => {
  const { run, work, wait, done } = setUp({ maxWaiting: 3 });
  void work('a', 100);
  const requests = [
    request(() => work('b', 1)),
    request(() => run(['a'], () => 'older')),
    request(() => run(['a'], () => 'newer')),
    request(() => work('c', 1)),
  ];
  const background = Array.from({ length: 5 }, () => work('a', 1, 'background'));
  const results = Promise.allSettled(requests.map(({ result }) => result));
  await wait(500);
  const statuses = (await results).map(({ status }) => status);
  expect(statuses).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['a', 'b', 'c', ...Array(5).fill('background')]);
  await Promise.all(background);
});

test('a network with many callers does not delay callers of other networks, and its callers take turns', async () => {
  const { work, wait, done } = setUp({ lightMs: 150 });
  const crowd = Array.from({ length: 100 }, (_, at) =>
    work(`crowd/${at}`, 20, 'crowd').catch(() => 'refused'),
  );
  await wait(20);
  void work('crowd/0', 1, 'again');
  void work('crowd/101', 1, 'new');
  void work('shop/ann', 1, 'shop');
  await wait(100);
  expect(done.indexOf('shop')).toBeLessThan(10);
  await wait(8000);
  expect(done.indexOf('new')).toBeLessThan(done.indexOf('again'));
  await Promise.all(crowd);
});

test('work that waits is not overtaken for ever by groups that have used little', async () => {
  const { work, wait, done } = setUp({ lightMs: 150 });
  for (let at = 0; at < 400; at++) {
    // Together they cause twice as much work as the share allows.
    void work(`account ${at % 200}`, 13, 'account').catch(() => 'refused');
    if (at % 10 === 0) void work(`user ${at}`, 1, 'user');
    await wait(13);
  }
  await wait(1000);
  expect(done.filter((name) => name === 'user')).toHaveLength(40);
});

test('a request that is cancelled while it waits is not read', async () => {
  const { run, work, wait } = setUp();
  void work('a', 100);
  const read = vi.fn<() => void>();
  const { res, result } = request(() => run(['b'], read).catch((error: unknown) => error));
  res.emit('close');
  await wait(300);
  expect(await result).toMatchObject({ code: 'client_closed_request' });
  expect(read).not.toHaveBeenCalled();
});

test('an error of the work, thrown or rejected, reaches its caller, and later work runs', async () => {
  const { run, work, wait } = setUp();
  const fail = (): never => {
    throw new Error('not readable');
  };
  await expect(run(['a'], fail)).rejects.toThrow('not readable');
  void work('a', 100);
  const waiting = [run(['a'], fail), run(['a'], () => Promise.reject(new Error('no answer'))), work('a', 1)];
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
  const results = ['b', 'c'].map((name) => context.run(name, () => run([name], () => context.getStore())));
  await wait(300);
  expect(await Promise.all(results)).toEqual(['b', 'c']);
});
