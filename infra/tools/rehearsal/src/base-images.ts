import { cp, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run, stopping } from './command.ts';
import type { Engine } from './engine.ts';

/** Official images, by the stage of base-images/Dockerfile that builds a stand-in for each. */
const OFFICIAL = {
  node: 'node:24-bookworm-slim',
  nginx: 'nginx:1.29-alpine',
  redis: 'redis:8-alpine',
  postgres: 'postgres:18',
  prometheus: 'prom/prometheus:v3.5.0',
  alertmanager: 'prom/alertmanager:v0.28.1',
  blackbox: 'prom/blackbox-exporter:v0.27.0',
};
/** The base image of the stand-ins. */
const DEBIAN = 'platform-debian:latest';
const PACKAGES = [
  'ca-certificates',
  'nginx-light',
  'postgresql-18',
  'prometheus',
  'prometheus-alertmanager',
  'prometheus-blackbox-exporter',
  'redis-server',
  'wget',
];
const CA_CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Returns the Debian mirror that apt uses. */
const debianMirror = async (): Promise<string> => {
  const filter = ['Created-By: Packages', 'Origin: Debian'];
  const uris = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...filter]);
  return uris.split('\n')[0] || 'http://deb.debian.org/debian';
};

/** Builds stand-ins for images. Needs root, mmdebstrap, apt and npm. */
const buildStandIns = async (
  { docker }: Engine,
  images: readonly (readonly [stage: string, name: string])[],
): Promise<void> => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'rehearsal-images-'));
  const folder = temporary.path;
  const tar = join(folder, 'debian.tar');
  // The package lists of mirror snapshots have expired.
  const aptOptions = '--aptopt=Acquire::Check-Valid-Until "false"';
  const packages = `--include=${PACKAGES.join()}`;
  await run('mmdebstrap', ['--variant=minbase', aptOptions, packages, 'forky', tar, await debianMirror()]);
  await docker('import', tar, DEBIAN);
  await rm(tar);

  await cp(join(ROOT, 'infra/tools/rehearsal/base-images'), folder, { recursive: true });
  await cp(CA_CERTIFICATES, join(folder, 'ca-certificates.crt'));
  // The Node.js of this process has the version of the official image.
  await cp(process.execPath, join(folder, 'node'));
  await run('npm', ['install', '--prefix', join(folder, 'packages'), 'npm@11']);
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  for (const [stage, name] of images)
    await docker('build', '--target', stage, '--tag', name, '--build-arg', `REGISTRY=${registry}`, folder);
};

/**
 * Pulls the official images that the engine lacks, or builds stand-ins if they cannot be pulled. In the user's own engine
 * stand-ins must be requested (`--local-base-images`), because they have the names of official images until disposal
 * removes them.
 */
export const provideBaseImages = async (
  engine: Engine,
  { useStandIns }: { useStandIns: boolean },
): Promise<{ kind: 'official' | 'stand-ins' } & AsyncDisposable> => {
  const present = (await engine.docker('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n');
  const missing = Object.entries(OFFICIAL).filter(([, name]) => !present.includes(name));
  if (!useStandIns) {
    try {
      for (const [, name] of missing) await engine.docker('pull', '--quiet', name);
      return Object.assign(new AsyncDisposableStack(), { kind: 'official' as const });
    } catch (error) {
      stopping.throwIfAborted();
      if (!engine.isTemporary)
        throw new Error('Pass --local-base-images to build stand-ins.', { cause: error });
    }
  }
  await using stack = new AsyncDisposableStack();
  const standIns = [...missing.map(([, name]) => name), DEBIAN];
  // `--force` ignores images that were not built.
  stack.defer(async () => void (await engine.docker('image', 'rm', '--force', ...standIns)));
  await buildStandIns(engine, missing);
  return Object.assign(stack.move(), { kind: 'stand-ins' as const });
};
