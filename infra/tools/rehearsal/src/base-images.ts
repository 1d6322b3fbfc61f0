import { cp, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run, stopping } from './command.ts';
import type { Engine } from './engine.ts';

/** Stages of base-images/Dockerfile, and the official images that they stand for. */
const OFFICIAL = {
  node: 'node:24-bookworm-slim',
  nginx: 'nginx:1.29-alpine',
  redis: 'redis:8-alpine',
  postgres: 'postgres:18',
};
/** The image that the stand-ins are built from. */
const DEBIAN = 'platform-debian:latest';
const PACKAGES = ['ca-certificates', 'nginx-light', 'postgresql-18', 'redis-server', 'wget'];
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

/** The configured Debian mirror. */
const mirror = async (): Promise<string> => {
  const filter = ['Created-By: Packages', 'Origin: Debian'];
  const uris = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...filter]);
  return uris.split('\n')[0] || 'http://deb.debian.org/debian';
};

/** Builds the stand-ins, which replace images of the same names. Needs root, mmdebstrap, apt and npm. */
const buildStandIns = async ({ docker }: Engine): Promise<void> => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'rehearsal-images-'));
  const folder = temporary.path;
  const tar = join(folder, 'debian.tar');
  // Snapshots of a mirror have expired lists.
  const aptOptions = '--aptopt=Acquire::Check-Valid-Until "false"';
  const packages = `--include=${PACKAGES.join()}`;
  await run('mmdebstrap', ['--variant=minbase', aptOptions, packages, 'forky', tar, await mirror()]);
  await docker('import', tar, DEBIAN);
  await rm(tar);

  await cp(join(ROOT, 'infra/tools/rehearsal/base-images'), folder, { recursive: true });
  await cp(AUTHORITIES, join(folder, 'ca-certificates.crt'));
  // The Node.js of the checkout, which has the version of the image.
  await cp(process.execPath, join(folder, 'node'));
  await run('npm', ['install', '--prefix', join(folder, 'packages'), 'npm@11']);
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  for (const [stage, name] of Object.entries(OFFICIAL))
    await docker('build', '--target', stage, '--tag', name, '--build-arg', `REGISTRY=${registry}`, folder);
};

/** The ids of the engine's images, by name and tag. */
const imageIds = async ({ docker }: Engine): Promise<Map<string, string>> => {
  const listed = await docker('images', '--no-trunc', '--format', '{{.Repository}}:{{.Tag}} {{.ID}}');
  return new Map(listed.split('\n').map((line) => line.split(' ') as [string, string]));
};

/** Disposal removes the images that have these names then, and gives the names back to the images that have them now. */
const keepImages = async (engine: Engine, names: readonly string[]): Promise<AsyncDisposable> => {
  const before = await imageIds(engine);
  const restore = async (): Promise<void> => {
    const now = await imageIds(engine);
    for (const name of names) {
      const [old, standIn] = [before.get(name), now.get(name)];
      if (standIn === undefined || standIn === old) continue;
      if (old !== undefined) await engine.docker('tag', old, name);
      await engine.docker('image', 'rm', old === undefined ? name : standIn);
    }
  };
  return { [Symbol.asyncDispose]: restore };
};

/** Disposal removes stand-ins. */
interface BaseImages extends AsyncDisposable {
  kind: 'official' | 'stand-ins';
}

/**
 * Makes sure that the engine has the official images: pulls those that are missing, or, where that is impossible, builds
 * stand-ins. In an engine that was not started for the rehearsal stand-ins have to be asked for, because they replace its
 * images until disposal.
 */
export const provideBaseImages = async (engine: Engine, local: boolean): Promise<BaseImages> => {
  await using stack = new AsyncDisposableStack();
  const names = Object.values(OFFICIAL);
  if (!local) {
    try {
      const present = await imageIds(engine);
      for (const name of names) if (!present.has(name)) await engine.docker('pull', '--quiet', name);
      return { kind: 'official', [Symbol.asyncDispose]: () => Promise.resolve() };
    } catch (error) {
      stopping.throwIfAborted();
      if (!engine.own) throw new Error('Give --local-base-images to build stand-ins.', { cause: error });
    }
  }
  stack.use(await keepImages(engine, [...names, DEBIAN]));
  await buildStandIns(engine);
  const owned = stack.move();
  return { kind: 'stand-ins', [Symbol.asyncDispose]: () => owned.disposeAsync() };
};
