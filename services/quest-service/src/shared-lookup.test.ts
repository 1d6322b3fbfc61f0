import { Unavailable } from '@platform/service-kit/problem';
import { expect, test } from 'vitest';
import { shareLookup } from './shared-lookup.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('calls that wait together share one lookup for each key', async () => {
  const lookups: string[] = [];
  const look = shareLookup(async (key) => {
    lookups.push(key);
    return key.toUpperCase();
  });
  expect(await Promise.all([look('a'), look('a'), look('b'), look('a')])).toEqual(['A', 'A', 'B', 'A']);
  expect(lookups).toEqual(['a', 'b']);
});

test('a call is never answered by a lookup that was sent before it', async () => {
  let version = 1;
  const sent: (() => void)[] = [];
  const look = shareLookup<number>(() => {
    const seen = version;
    return new Promise((resolve) => sent.push(() => resolve(seen)));
  });
  const early = look('a');
  await nextTurn();
  version = 2;
  const late = [look('a'), look('a')];
  await nextTurn();
  expect(sent).toHaveLength(1);
  sent[0]?.();
  expect(await early).toBe(1);
  await nextTurn();
  expect(sent).toHaveLength(2);
  version = 3;
  sent[1]?.();
  expect(await Promise.all(late)).toEqual([2, 2]);
});

test('a waiting lookup runs although the one before it failed', async () => {
  let calls = 0;
  const look = shareLookup(async () => {
    if (++calls === 1) throw new Error('away');
    return 'here';
  });
  const early = look('a').catch(() => 'failed');
  await nextTurn();
  expect(await Promise.all([early, look('a')])).toEqual(['failed', 'here']);
});

test('a lookup that fails rejects only the calls that shared it', async () => {
  let fails = true;
  const look = shareLookup(async () => {
    if (fails) throw new Error('away');
    return 'here';
  });
  const outcomes = await Promise.allSettled([look('a'), look('a')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await look('a')).toBe('here');
});

test('when a shared lookup is refused, the other calls share another one in their own turn', async () => {
  const lookups: string[] = [];
  const look = shareLookup(async (key) => {
    if (lookups.push(key) === 1) throw new Unavailable('too_busy', 'The first lookup is refused.');
    return 'here';
  });
  const outcomes = await Promise.allSettled([look('a'), look('a'), look('a')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(lookups).toEqual(['a', 'a']);
});
