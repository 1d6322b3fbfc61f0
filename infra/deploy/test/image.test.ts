import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase } from '@platform/service-kit/testing';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildImage, dockerfile, startProgram } from './image/image.ts';
import { contextPaths, dockerignore } from './image/context.ts';
import { root, secrets } from './service.ts';

describe('the Dockerfile', () => {
  test('is valid', () => {
    expect(validate(dockerfile).map(({ message }) => message)).toEqual([]);
  });

  test('has the tools in the versions of the repository', () => {
    const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      packageManager: string;
    };
    const turbo = /^ {2}turbo: (.+)$/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1];
    expect(dockerfile).toContain(`${packageManager} turbo@${turbo}\n`);
    expect(dockerfile).toContain('node:24-');
  });
});

describe('the build context', () => {
  test('contains the code and the guides, but no tests, installed packages or generated files', () => {
    const paths = contextPaths();
    expect(paths).toContain('services/quest-service/src/main.ts');
    expect(paths).toContain('patches/drizzle-orm@0.45.4.patch');
    expect(paths).toContain('docs/deploy.md');
    expect(
      paths.filter((path) => /\.test\.ts$|\/test\/|^docs\/.*\.(?:png|py)$|node_modules/.test(path)),
    ).toEqual([]);
  });

  test.each([
    '.env',
    'services/x/.env.local',
    'infra/deploy/prepared/secrets/a',
    '.git/config',
    '.local/secrets.json',
  ])('leaves out %s', (path) => {
    expect(dockerignore(readFileSync(join(root, 'infra/deploy/Dockerfile.dockerignore'), 'utf8'))(path)).toBe(
      true,
    );
  });
});

/** Only root can give a process to another user. */
describe.runIf(process.getuid?.() === 0)('an image of the task manager', () => {
  const work = mkdtempSync(join(tmpdir(), 'image-'));
  let image: Awaited<ReturnType<typeof buildImage>>;
  beforeAll(async () => {
    image = await buildImage(work, {
      SERVICE: 'task-manager',
      VERSION: '1.2.3',
      REVISION: 'a1b2c3',
      CREATED: '2026-11-22T10:00:00Z',
      SOURCE: 'https://git.example.test/platform',
    });
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  test('migrates, starts as a user without rights, reads its settings from files and is healthy', async () => {
    const databaseUrl = join(work, 'database-url');
    const signingKey = join(work, 'signing-key');
    await using database = await cloneDatabase(
      inject('postgresUrl'),
      join(root, 'services/task-manager/migrations'),
    );
    writeFileSync(databaseUrl, `${database.url}\n`, { mode: 0o444 });
    writeFileSync(signingKey, (await secrets())['AUTH_SIGNING_KEY'] ?? '', { mode: 0o444 });

    const migrate = image.program(['node', 'src/migrate.ts'], { MIGRATION_DATABASE_URL_FILE: databaseUrl });
    const migrated = spawnSync(migrate.file, migrate.args, { ...migrate.options, encoding: 'utf8' });
    expect(migrated.stderr).toBe('');
    expect(migrated.status).toBe(0);

    const { pid, port, probePort, stop } = await startProgram(
      image.program(image.command, {
        DATABASE_URL_FILE: databaseUrl,
        AUTH_SIGNING_KEY_FILE: signingKey,
        HOST: '127.0.0.1',
      }),
    );
    const health = (at: number) => {
      const { file, args, options } = image.program(image.health, { PROBE_PORT: String(at) });
      return spawnSync(file, args, options).status;
    };
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(/^Uid:\t(\d+)\t(\d+)/m.exec(status)?.slice(1)).toEqual(['1000', '1000']);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { migrations: 'ok' } }]);
    expect(health(probePort)).toBe(0);
    expect(await stop()).toEqual([0, null]);
    expect(health(probePort)).not.toBe(0);
  });

  test('contains no build tool, no test and no other service', () => {
    const found = spawnSync(
      'find',
      [image.root, '-name', '*.test.ts', '-o', '-path', '*/.pnpm/vitest@*', '-prune'],
      {
        encoding: 'utf8',
      },
    );
    expect(
      found.stdout.split('\n').filter((path) => path.includes('/vitest@') || !path.includes('node_modules')),
    ).toEqual(['']);
    const services = spawnSync('ls', [join(image.root, 'repo/services')], { encoding: 'utf8' });
    expect(services.stdout).toBe('task-manager\n');
  });

  test('has labels that say what it was built from', () => {
    expect(image.labels).toEqual({
      'org.opencontainers.image.title': 'task-manager',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.revision': 'a1b2c3',
      'org.opencontainers.image.created': '2026-11-22T10:00:00Z',
      'org.opencontainers.image.source': 'https://git.example.test/platform',
    });
  });

  test('has an SBOM that names every installed package and its version', () => {
    const sbom = JSON.parse(readFileSync(join(image.root, 'repo/sbom.cdx.json'), 'utf8')) as {
      components: { purl: string }[];
    };
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { name: 'task-manager' } },
    });
    const named = sbom.components.map(({ purl }) => decodeURIComponent(purl));
    // Folders are named express@5.2.1 or @scope+name@1.0.0_peers.
    const installed = readdirSync(join(image.root, 'repo/node_modules/.pnpm')).flatMap((folder) => {
      const [, name = '', version = ''] = /^(@?[^@]+)@([^_(]+)/.exec(folder) ?? [];
      return name === '' ? [] : [`pkg:npm/${name.replace('+', '/')}@${version}`];
    });
    expect(installed.length).toBeGreaterThan(50);
    for (const purl of installed) expect(named).toContain(purl);
  });
});
