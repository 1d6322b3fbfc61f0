import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { holdAnswers } from './held-answers.ts';

test('an answer is given again until its time is over, and per key', async () => {
  const asked: string[] = [];
  const ask = holdAnswers(async (key) => {
    asked.push(key);
    return `${key}${asked.length}`;
  }, 60_000);
  expect([await ask('a'), await ask('a'), await ask('b'), await ask('a')]).toEqual(['a1', 'a1', 'b2', 'a1']);
  const ran: string[] = [];
  const short = holdAnswers(async (key) => (ran.push(key), key), 5);
  await short('a');
  await sleep(10);
  await short('a');
  expect(ran).toEqual(['a', 'a']);
});

test('the time runs from before the question: an answer that came too late is not held', async () => {
  let asked = 0;
  const ask = holdAnswers(async () => {
    asked += 1;
    await sleep(20);
    return 'v1';
  }, 5);
  await ask('a');
  await ask('a');
  expect(asked).toBe(2);
});

test('what is not there is asked for each time, and a failure is not held', async () => {
  const answers = [undefined, new Error('away'), 'v1'];
  const ask = holdAnswers(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  }, 60_000);
  expect(await ask('a')).toBeUndefined();
  await expect(ask('a')).rejects.toThrow('away');
  expect(await ask('a')).toBe('v1');
});
