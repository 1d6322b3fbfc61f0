import { afterEach, describe, expect, test, vi } from 'vitest';
import { createPlaces, type Bounds } from './places.ts';

const bounds: Bounds = {
  most: 6,
  mostOfCaller: 2,
  mostOfNetwork: 4,
  givesWay: true,
  code: 'too_many_downloads',
  detail: 'Too many.',
};

/** Begins work that ends when it loses its place, and says what became of each. */
const start = (places: ReturnType<typeof createPlaces>) => {
  const running: string[] = [];
  const begin = async (caller: string, network: string): Promise<string> => {
    const name = `${caller}@${network}`;
    const { promise: begun, resolve } = Promise.withResolvers<string>();
    const work = (lost: AbortSignal) =>
      new Promise<void>((end) => {
        running.push(name);
        resolve('begun');
        lost.addEventListener('abort', () => {
          running.splice(running.indexOf(name), 1);
          end();
        });
      });
    return Promise.race([places(caller, work, network).then(() => 'ended'), begun]);
  };
  return { running, begin };
};

const refused = { status: 503, code: 'too_many_downloads' };

describe('places that give way', () => {
  afterEach(() => vi.useRealTimers());

  test('are those of the network with the most, when another has at least two fewer', async () => {
    const { running, begin } = start(createPlaces(bounds));
    for (const name of ['a@1', 'a@1', 'b@1', 'b@1', 'c@2', 'c@2']) {
      const [caller = '', network = ''] = name.split('@');
      await begin(caller, network);
    }
    expect(await begin('d', '3')).toBe('begun');
    expect(running).toEqual(['a@1', 'b@1', 'b@1', 'c@2', 'c@2', 'd@3']);
    expect(await begin('e', '4')).toBe('begun');
    expect(running).toEqual(['a@1', 'b@1', 'c@2', 'c@2', 'd@3', 'e@4']);
    // The networks have 2, 2, 1 and 1: with one more this one would have as many as the largest.
    await expect(begin('d', '3')).rejects.toMatchObject(refused);
    expect(await begin('f', '5')).toBe('begun');
    expect(await begin('g', '6')).toBe('begun');
    await expect(begin('h', '7')).rejects.toMatchObject(refused);
    expect(running).toEqual(['b@1', 'c@2', 'd@3', 'e@4', 'f@5', 'g@6']);
  });

  test('are those of the caller with the most in a network that has all of its own', async () => {
    const { running, begin } = start(createPlaces(bounds));
    for (const caller of ['a', 'a', 'b', 'b']) await begin(caller, '1');
    expect(await begin('c', '1')).toBe('begun');
    expect(await begin('d', '1')).toBe('begun');
    await expect(begin('e', '1')).rejects.toMatchObject(refused);
    await expect(begin('a', '1')).rejects.toMatchObject(refused);
    expect(running).toEqual(['a@1', 'b@1', 'c@1', 'd@1']);
    expect(await begin('x', '2')).toBe('begun');
  });

  test('are kept for five minutes by who has no more than others, and then given to who has none', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { running, begin } = start(createPlaces(bounds));
    for (const caller of ['a', 'b', 'c', 'd', 'e', 'g']) await begin(caller, caller);
    vi.advanceTimersByTime(299_000);
    await expect(begin('f', '9')).rejects.toMatchObject(refused);
    vi.advanceTimersByTime(2000);
    await expect(begin('b', '9')).rejects.toMatchObject(refused);
    expect(await begin('f', '9')).toBe('begun');
    expect(running).toEqual(['b@b', 'c@c', 'd@d', 'e@e', 'g@g', 'f@9']);
  });

  test('are not taken after five minutes from a network that has fewer', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { running, begin } = start(createPlaces(bounds));
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

test('work that does not give way keeps its place', async () => {
  const { running, begin } = start(createPlaces({ ...bounds, givesWay: false, most: 2 }));
  await begin('a', '1');
  await begin('a', '1');
  await expect(begin('b', '2')).rejects.toMatchObject(refused);
  expect(running).toEqual(['a@1', 'a@1']);
});
