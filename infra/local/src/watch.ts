import { watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists } from './files.ts';
import { ROOT, type StartOptions } from './options.ts';
import { instanceName, type Service } from './services.ts';
import { say } from './say.ts';
import type { Supervisor } from './supervisor.ts';

/** Editors write several files at once, or one file twice. */
const SETTLE_MS = 100;

const isSource = (file: string | null): file is string =>
  file !== null && file.endsWith('.ts') && !file.endsWith('.test.ts');

/** The folders of the packages, which all services share. */
const packageFolders = async (): Promise<string[]> => {
  const packages = join(ROOT, 'packages');
  return (await readdir(packages)).map((name) => join(packages, name));
};

/**
 * Restarts a service when its code changes, and all services when the code of a package changes. A service that does not
 * start is reported with the end of its log; it runs again after the next change.
 */
export const watchServices = async (
  { instances }: StartOptions,
  services: readonly Service[],
  supervisor: Supervisor,
  stopping: AbortSignal,
): Promise<void> => {
  const restart = async (service: Service): Promise<void> => {
    say(`${service.name} changed; restarting …`);
    for (let instance = 1; instance <= instances; instance += 1)
      await supervisor.restart(instanceName(service, instance));
    say(`${service.name} is ready`);
  };
  const changed = new Set<Service>();
  const restartChanged = async (): Promise<void> => {
    await sleep(SETTLE_MS);
    const batch = [...changed];
    changed.clear();
    for (const result of await Promise.allSettled(batch.map(restart)))
      if (result.status === 'rejected' && !stopping.aborted) say(String(result.reason));
  };
  const watchFolder = async (folder: string, affected: readonly Service[]): Promise<void> => {
    const source = join(folder, 'src');
    if (!(await exists(source))) return;
    const watcher = watch(source, { recursive: true, signal: stopping }, (_, file) => {
      if (!isSource(file)) return;
      if (changed.size === 0) void restartChanged();
      for (const service of affected) changed.add(service);
    });
    // ENOSPC, for example: too many watched files.
    watcher.on('error', (error) => say(`${source} is not watched: ${String(error)}`));
  };
  await Promise.all([
    ...services.map((service) => watchFolder(service.folder, [service])),
    ...(await packageFolders()).map((folder) => watchFolder(folder, services)),
  ]);
  say('Watching the code: a service restarts when it changes.');
};
