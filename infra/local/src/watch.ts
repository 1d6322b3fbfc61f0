import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists, readJson } from './local-folder.ts';
import { ROOT, type StartOptions } from './options.ts';
import { instanceName, type Service } from './services.ts';
import { print } from './print.ts';
import type { Supervisor } from './supervisor.ts';

/** Waits this long after a change, because editors and generators write several files, or one file twice. */
const SETTLE_MS = 300;

const isSource = (file: string): boolean => file.endsWith('.ts') && !file.endsWith('.test.ts');

const SCOPE = '@platform/';

/** Folders of the packages that the code in `folder` depends on, directly or through other packages. */
export const packagesOf = async (folder: string, packages = new Set<string>()): Promise<Set<string>> => {
  const manifest = await readJson<{ dependencies?: Record<string, string> }>(join(folder, 'package.json'));
  for (const name of Object.keys(manifest?.dependencies ?? {})) {
    const packageFolder = join(ROOT, 'packages', name.slice(SCOPE.length));
    if (!name.startsWith(SCOPE) || packages.has(packageFolder)) continue;
    packages.add(packageFolder);
    await packagesOf(packageFolder, packages);
  }
  return packages;
};

/** Maps each folder (of a service or a package) to the services that run its code. */
const servicesByFolder = async (services: readonly Service[]): Promise<Map<string, Service[]>> => {
  const folders = await Promise.all(
    services.map(async (service) => [service.folder, ...(await packagesOf(service.folder))]),
  );
  const unique = new Set(folders.flat());
  return new Map(
    [...unique].map((folder) => [folder, services.filter((_, at) => folders[at]?.includes(folder))]),
  );
};

/**
 * Restarts a service when its code changes, or the code of a package that it uses. If the service does not start, the end
 * of its log is printed, and the next change restarts it. New migrations are reported but not run, because a generated
 * one may still be edited. Changes before `started` resolves restart their services afterwards.
 */
export const watchServices = async (
  { instances }: StartOptions,
  services: readonly Service[],
  supervisor: Pick<Supervisor, 'restart'>,
  stopping: AbortSignal,
  started: Promise<void>,
): Promise<void> => {
  const withNewMigrations = new Set<Service>();
  const printMigrationNotice = ({ name }: Service): void =>
    print(
      `The migrations of ${name} changed. They run when dev starts: stop it with Ctrl-C and start it again.`,
    );
  const restart = async (service: Service): Promise<void> => {
    print(`${service.name} changed; restarting …`);
    if (withNewMigrations.has(service)) printMigrationNotice(service);
    for (let instance = 1; instance <= instances; instance += 1)
      await supervisor.restart(instanceName(service, instance));
    print(`${service.name} is ready`);
  };
  const changed = new Set<Service>();
  const restartChanged = async (): Promise<void> => {
    await started;
    await sleep(SETTLE_MS);
    const batch = [...changed];
    changed.clear();
    for (const result of await Promise.allSettled(batch.map(restart)))
      if (result.status === 'rejected' && !stopping.aborted) print(String(result.reason));
  };
  const watchFolder = async (folder: string, onFile: (file: string) => void): Promise<void> => {
    if (!(await exists(folder))) return;
    const watcher = watch(folder, { recursive: true, signal: stopping }, (_, file) => onFile(file ?? ''));
    // For example ENOSPC: too many watched files.
    watcher.on('error', (error) => print(`Changes in ${folder} cannot be watched: ${String(error)}`));
  };
  const watchSource = (folder: string, users: readonly Service[]): Promise<void> =>
    watchFolder(join(folder, 'src'), (file) => {
      if (!isSource(file)) return;
      if (changed.size === 0) void restartChanged();
      for (const service of users) changed.add(service);
    });
  const watchMigrations = (service: Service): Promise<void> =>
    watchFolder(join(service.folder, 'migrations'), (file) => {
      if (!file.endsWith('.sql') || withNewMigrations.has(service)) return;
      withNewMigrations.add(service);
      printMigrationNotice(service);
    });
  const affected = await servicesByFolder(services);
  await Promise.all([
    ...[...affected].map(([folder, users]) => watchSource(folder, users)),
    ...services.map(watchMigrations),
  ]);
};
