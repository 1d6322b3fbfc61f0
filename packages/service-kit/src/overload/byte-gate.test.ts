import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { runInRequestScope } from './request-scope.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createByteGate } from './byte-gate.ts';

test('work runs side by side up to the capacity, larger work alone, in order, and after failures', async () => {
  const gate = createByteGate({ capacity: 10, maxWaiting: 99, maxWaitMs: 60_000 });
  const started: string[] = [];
  const start = (name: string, bytes: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const result = gate.run(bytes, () => (started.push(name), promise));
    return { result, end: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  const [a, b, big, small] = [start('a', 4), start('b', 6), start('big', 99), start('small', 1)];
  await Promise.resolve();
  expect(started).toEqual(['a', 'b']);
  a.end();
  expect(await a.result).toBe('a');
  expect(started).toEqual(['a', 'b']);
  b.fail();
  await expect(b.result).rejects.toThrow('b');
  await Promise.resolve();
  expect(started).toEqual(['a', 'b', 'big']);
  big.end();
  await big.result;
  small.end();
  expect(await small.result).toBe('small');
});

/** Runs `work` in the scope of a cancellable request from this network. */
const requestOf = <T>(network: string, work: () => Promise<T>) => {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const unlimited = { enter: () => {}, leave: () => {}, suspend: () => {}, isReached: () => false };
  const limits = { deadlineMs: 60_000, concurrency: unlimited, network, client: () => [network, ''] };
  const { promise, resolve } = Promise.withResolvers<T>();
  runInRequestScope(req, res, limits, () => resolve(work()));
  onTestFinished(() => void res.emit('close'));
  return { result: promise, close: () => res.emit('close') };
};

test('clients take turns, excess work of one client is refused, and cancelled work does not wait', async () => {
  const gate = createByteGate({ capacity: 1, maxWaiting: 2, maxWaitMs: 60_000 });
  const running = Promise.withResolvers<void>();
  const done: string[] = [];
  const run = (network: string, name: string) =>
    requestOf(network, () => gate.run(1, async () => void done.push(name)));
  const first = gate.run(1, () => running.promise);
  const [cancelled, second, third] = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
  const other = run('b', 'b1');
  await expect(third.result).rejects.toMatchObject({ code: 'too_busy' });
  cancelled.close();
  await expect(cancelled.result).rejects.toMatchObject({ code: 'client_closed_request' });
  const last = run('a', 'a4');
  running.resolve();
  await Promise.all([first, second.result, other.result, last.result]);
  expect(done).toEqual(['a2', 'b1', 'a4']);
});

test('work that waits too long is refused', async () => {
  const gate = createByteGate({ capacity: 1, maxWaiting: 3, maxWaitMs: 10 });
  const running = Promise.withResolvers<void>();
  const first = gate.run(1, () => running.promise);
  await expect(gate.run(1, async () => 1)).rejects.toMatchObject({ code: 'too_busy' });
  running.resolve();
  await first;
  expect(await gate.run(1, async () => 1)).toBe(1);
});
