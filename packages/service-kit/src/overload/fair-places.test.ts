import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairPlaces } from './fair-places.ts';

test('slow groups leave room for another group, and all work is run in the end', async () => {
  const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 });
  const order = fc.array(fc.nat(), { minLength: 64, maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(groups, order, async (groupsOfWork, order) => {
      const withPlace = createFairPlaces(16);
      const running: { group: string; end(): void }[] = [];
      const start = (group: string) =>
        withPlace(group, () => new Promise<void>((end) => void running.push({ group, end })));
      const started = groupsOfWork.map(start);
      await Promise.resolve();
      expect(running.length).toBeLessThanOrEqual(16);
      const before = running.length;
      const late = start('late');
      await Promise.resolve();
      expect(running.slice(before)).toMatchObject([{ group: 'late' }]);
      for (const at of order) {
        const [ended] = running.splice(at % Math.max(running.length, 1), 1);
        ended?.end();
        // Lets the work end and the next one start.
        for (let n = 0; n < 5; n++) await Promise.resolve();
        expect(running.length).toBeLessThanOrEqual(16);
      }
      await Promise.all([...started, late]);
    }),
  );
});
