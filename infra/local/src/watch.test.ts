import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './options.ts';
import { packagesOf } from './watch.ts';

test('a service uses the packages that it depends on and those that these depend on, but not those of its tests', async () => {
  const used = await packagesOf(join(ROOT, 'services/quest-service'));
  const names = [...used].map((folder) => folder.slice(join(ROOT, 'packages/').length)).toSorted();
  expect(names).toEqual(['auth', 'pagination', 'service-kit', 'tracing']);
});
