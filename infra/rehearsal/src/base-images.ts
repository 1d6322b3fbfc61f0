import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from './command.ts';
import type { Engine } from './engine.ts';

/** Stages of base-images/Dockerfile, and the official images that they stand for. */
const OFFICIAL = {
  node: 'node:24-bookworm-slim',
  nginx: 'nginx:1.29-alpine',
  redis: 'redis:8-alpine',
  postgres: 'postgres:18',
};
const PACKAGES = ['ca-certificates', 'nginx-light', 'postgresql-18', 'redis-server', 'wget'];
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

/** The Debian mirror of this machine. */
const mirror = async (): Promise<string> => {
  const found = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  return found.split('\n')[0] || 'http://deb.debian.org/debian';
};

/** Builds the stand-ins, which replace images of the same names. Needs root, mmdebstrap, apt and npm. */
const buildStandIns = async ({ docker }: Engine): Promise<void> => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-images-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const tar = join(folder, 'debian.tar');
  // A mirror may be a copy that is older than its lists are valid.
  const aptOptions = '--aptopt=Acquire::Check-Valid-Until "false"';
  const packages = `--include=${PACKAGES.join()}`;
  await run('mmdebstrap', ['--variant=minbase', aptOptions, packages, 'forky', tar, await mirror()]);
  await docker('import', tar, 'platform-debian');
  await rm(tar);

  await cp(join(ROOT, 'infra/rehearsal/base-images'), folder, { recursive: true });
  await cp(AUTHORITIES, join(folder, 'ca-certificates.crt'));
  await run('npm', ['install', '--prefix', join(folder, 'packages'), 'node@24', 'npm@11']);
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  for (const [stage, name] of Object.entries(OFFICIAL))
    await docker('build', '--target', stage, '--tag', name, '--build-arg', `REGISTRY=${registry}`, folder);
};

const isThere = ({ docker }: Engine, name: string): Promise<boolean> =>
  docker('image', 'inspect', name).then(
    () => true,
    () => false,
  );

/**
 * Makes sure that the engine has the official images: pulls those that are missing, or, where that is impossible, builds stand-ins. In an
 * engine that was not started for the rehearsal stand-ins have to be asked for, because they replace its images.
 */
export const provideBaseImages = async (engine: Engine, local: boolean): Promise<string> => {
  if (!local) {
    try {
      for (const name of Object.values(OFFICIAL))
        if (!(await isThere(engine, name))) await engine.docker('pull', '--quiet', name);
      return 'base images are official';
    } catch (error) {
      if (!engine.own) throw new Error('Give --local-base-images to build stand-ins.', { cause: error });
    }
  }
  await buildStandIns(engine);
  return 'base images are stand-ins';
};
