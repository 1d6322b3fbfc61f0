import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairPlaces } from './send.ts';

test('slow groups leave room for the next one, and everything gets its turn in the end', async () => {
  const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 });
  const order = fc.array(fc.nat(), { minLength: 64, maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(groups, order, async (works, ends) => {
      const withPlace = createFairPlaces(16);
      const running: { group: string; end(): void }[] = [];
      const begin = (group: string) =>
        withPlace(group, () => new Promise<void>((end) => void running.push({ group, end })));
      const all = works.map(begin);
      await Promise.resolve();
      expect(running.length).toBeLessThanOrEqual(16);
      const before = running.length;
      const late = begin('late');
      await Promise.resolve();
      expect(running.slice(before)).toMatchObject([{ group: 'late' }]);
      for (const at of ends) {
        const [one] = running.splice(at % Math.max(running.length, 1), 1);
        one?.end();
        // The end, and the begin of the next one.
        for (let n = 0; n < 5; n++) await Promise.resolve();
        expect(running.length).toBeLessThanOrEqual(16);
      }
      await Promise.all([...all, late]);
    }),
  );
});
