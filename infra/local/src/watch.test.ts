import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ROOT, type StartOptions } from './options.ts';
import type { Service } from './services.ts';
import { testLimits } from './testing/vitest.ts';
import { packagesOf, watchServices } from './watch.ts';

test('packagesOf returns direct and indirect dependencies of a service, but not those of its tests', async () => {
  const folders = await packagesOf(join(ROOT, 'services/quest-service'));
  const names = [...folders].map((folder) => folder.slice(join(ROOT, 'packages/').length)).toSorted();
  expect(names).toEqual([
    'auth',
    'feed',
    'mail',
    'outgoing-webhooks',
    'pagination',
    'program',
    'service-kit',
    'tracing',
  ]);
});

test('a service whose code changes while the platform starts is restarted once it has started', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watched-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'package.json'), '{}');
  const service = { name: 'notes', folder } as Service;
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const started = Promise.withResolvers<void>();
  const restart = vi.fn((_name: string) => Promise.resolve());
  await watchServices(
    { instances: 1 } as StartOptions,
    [service],
    { restart },
    stopping.signal,
    started.promise,
  );
  await writeFile(join(folder, 'src/main.ts'), '');
  started.resolve();
  await vi.waitUntil(() => restart.mock.calls.length > 0, testLimits.expect.poll);
  expect(restart.mock.calls[0]).toEqual(['notes']);
});
