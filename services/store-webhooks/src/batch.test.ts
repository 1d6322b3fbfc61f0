import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inBatches } from './batch.ts';

test('every call gets its own result, in batches no larger and no more at once than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(3), { maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 3 }),
      async (pauses, maxItems, inFlight) => {
        let running = 0;
        const sizes: number[] = [];
        const seen: number[] = [];
        const call = inBatches<number, string>(
          async (items) => {
            expect(++running).toBeLessThanOrEqual(inFlight);
            sizes.push(items.length);
            seen.push(...items);
            await sleep(1);
            running--;
            return items.map((item) => `result ${item}`);
          },
          { maxItems, inFlight },
        );
        const results: Promise<string>[] = [];
        for (const [at, pause] of pauses.entries()) {
          if (pause === 0) await sleep(0);
          results.push(call(at));
        }
        expect(await Promise.all(results)).toEqual(pauses.map((_, at) => `result ${at}`));
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxItems);
        expect(seen).toEqual(pauses.map((_, at) => at));
      },
    ),
    { numRuns: 40 },
  );
});

test('a run that fails fails its calls alone', async () => {
  const call = inBatches<number, number>(
    async (items) => {
      if (items.includes(1)) throw new Error('one');
      return items;
    },
    { maxItems: 1, inFlight: 1 },
  );
  const results = await Promise.allSettled([call(0), call(1), call(2)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
