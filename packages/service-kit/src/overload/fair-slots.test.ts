import { afterEach, describe, expect, test, vi } from 'vitest';
import { createFairSlots, type SlotLimits } from './fair-slots.ts';

const limits: SlotLimits = {
  max: 6,
  maxPerCaller: 2,
  maxPerNetwork: 4,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Too many.',
};

/** Starts work that ends when it loses its slot. `running` lists the work that holds a slot. */
const start = (runInSlot: ReturnType<typeof createFairSlots>) => {
  const running: string[] = [];
  const begin = async (caller: string, network: string): Promise<string> => {
    const name = `${caller}@${network}`;
    const { promise: started, resolve } = Promise.withResolvers<string>();
    const work = (preempted: AbortSignal) =>
      new Promise<void>((end) => {
        running.push(name);
        resolve('started');
        preempted.addEventListener('abort', () => {
          running.splice(running.indexOf(name), 1);
          end();
        });
      });
    return Promise.race([runInSlot(caller, work, network).then(() => 'ended'), started]);
  };
  return { running, begin };
};

const refused = { status: 503, code: 'too_many_downloads' };

describe('preemptible slots', () => {
  afterEach(() => vi.useRealTimers());

  test('a network takes a slot from the network with the most slots if it has at least two fewer', async () => {
    const { running, begin } = start(createFairSlots(limits));
    for (const name of ['a@1', 'a@1', 'b@1', 'b@1', 'c@2', 'c@2']) {
      const [caller = '', network = ''] = name.split('@');
      await begin(caller, network);
    }
    expect(await begin('d', '3')).toBe('started');
    expect(running).toEqual(['a@1', 'b@1', 'b@1', 'c@2', 'c@2', 'd@3']);
    expect(await begin('e', '4')).toBe('started');
    expect(running).toEqual(['a@1', 'b@1', 'c@2', 'c@2', 'd@3', 'e@4']);
    // The networks have 2, 2, 1 and 1 slots; network 3 has only one fewer than the largest.
    await expect(begin('d', '3')).rejects.toMatchObject(refused);
    expect(await begin('f', '5')).toBe('started');
    expect(await begin('g', '6')).toBe('started');
    await expect(begin('h', '7')).rejects.toMatchObject(refused);
    expect(running).toEqual(['b@1', 'c@2', 'd@3', 'e@4', 'f@5', 'g@6']);
  });

  test('in a full network a caller takes a slot from the caller with the most slots', async () => {
    const { running, begin } = start(createFairSlots(limits));
    for (const caller of ['a', 'a', 'b', 'b']) await begin(caller, '1');
    expect(await begin('c', '1')).toBe('started');
    expect(await begin('d', '1')).toBe('started');
    await expect(begin('e', '1')).rejects.toMatchObject(refused);
    await expect(begin('a', '1')).rejects.toMatchObject(refused);
    expect(running).toEqual(['a@1', 'b@1', 'c@1', 'd@1']);
    expect(await begin('x', '2')).toBe('started');
  });

  test('a caller without a slot takes one only after five minutes if no network has more than one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { running, begin } = start(createFairSlots(limits));
    for (const caller of ['a', 'b', 'c', 'd', 'e', 'g']) await begin(caller, caller);
    vi.advanceTimersByTime(299_000);
    await expect(begin('f', '9')).rejects.toMatchObject(refused);
    vi.advanceTimersByTime(2000);
    await expect(begin('b', '9')).rejects.toMatchObject(refused);
    expect(await begin('f', '9')).toBe('started');
    expect(running).toEqual(['b@b', 'c@c', 'd@d', 'e@e', 'g@g', 'f@9']);
  });

  test('a network with fewer slots keeps them after five minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { running, begin } = start(createFairSlots(limits));
    await begin('only', '1');
    vi.advanceTimersByTime(301_000);
    for (const name of ['a@2', 'b@2', 'c@2', 'd@3', 'e@3']) {
      const [caller = '', network = ''] = name.split('@');
      await begin(caller, network);
    }
    await expect(begin('f', '3')).rejects.toMatchObject(refused);
    expect(running).toContain('only@1');
  });
});

test('work that is not preemptible keeps its slot', async () => {
  const { running, begin } = start(createFairSlots({ ...limits, preemptible: false, max: 2 }));
  await begin('a', '1');
  await begin('a', '1');
  await expect(begin('b', '2')).rejects.toMatchObject(refused);
  expect(running).toEqual(['a@1', 'a@1']);
});
