import { spawnSync } from 'node:child_process';
import { chown, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import postgres from 'postgres';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Unavailable } from '../src/http/problem.ts';
import { openDatabase } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { serverOf } from '../src/database/server-certificate.ts';
import { withDeadline } from '../src/overload/request-scope.ts';
import { startServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const elliptic = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

const createAuthority = () =>
  generate([{ name: 'commonName', value: 'An authority' }], {
    ...elliptic,
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'keyUsage', keyCertSign: true },
    ],
  });

/** Starts a PostgreSQL that accepts only TLS, with a certificate for localhost, and writes files of two authorities. */
const startTlsPostgres = async () => {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await mkdtempDisposable(join(tmpdir(), 'tls-')));
  const server = await startPostgres();
  stack.defer(server.stop);
  const [authority, other] = [await createAuthority(), await createAuthority()];
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...elliptic,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const { uid, gid } = await stat(server.dataDir);
  for (const [name, content] of [
    ['server.key', key],
    ['server.crt', cert],
  ] as const) {
    const file = join(server.dataDir, name);
    await writeFile(file, content, { mode: 0o600 });
    await chown(file, uid, gid);
  }
  const hba = join(server.dataDir, 'pg_hba.conf');
  const rules = await readFile(hba, 'utf8');
  const sql = postgres(server.url, { max: 1 });
  await sql`alter system set ssl = on`;
  await sql`create database notes`;
  await writeFile(hba, rules.replaceAll(/^host /gm, 'hostssl '));
  await sql`select pg_reload_conf()`;
  await sql.end();
  await writeFile(join(folder, 'ca.crt'), authority.cert);
  await writeFile(join(folder, 'other.crt'), other.cert);
  const owned = stack.move();
  return {
    /** Returns a URL of the database `notes`. */
    url: (host: string, ca?: string) =>
      server.url.replace('127.0.0.1', host).replace(/postgres$/, 'notes') +
      (ca === undefined ? '' : `?sslmode=verify-full&sslrootcert=${join(folder, ca)}`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

let server: Awaited<ReturnType<typeof startTlsPostgres>>;
beforeAll(async () => {
  server = await startTlsPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

test('over TLS a statement past its deadline is cancelled, and its connection is reused', async () => {
  await using database = openDatabase({ url: server.url('localhost', 'ca.crt'), name: 'tls', max: 1 });
  const { sql } = database;
  const usesTls = async () => {
    const [row] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.['ssl'];
  };
  await expect.poll(() => usesTls().catch(() => undefined)).toBe(true);
  const tooSlow = () => new Unavailable('too_slow', 'Too slow.');
  const slow = withDeadline(200, tooSlow, async () => sql`select pg_sleep(60)`);
  await expect(slow).rejects.toMatchObject({ code: 'too_slow' });
  expect(await usesTls()).toBe(true);
});

test('migrations and services connect to a server that requires TLS if sslrootcert contains its authority', async () => {
  await expect(migrate(server.url('localhost'), migrations)).rejects.toMatchObject({ code: '28000' });
  const url = server.url('localhost', 'ca.crt');
  await migrate(url, migrations);
  await using service = await startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: url },
  });
  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);
});

test.each([
  ['of another authority', 'localhost', 'other.crt', 'not valid, or not signed by sslrootcert'],
  ['for another host', '127.0.0.1', 'ca.crt', 'for another host than that of its URL'],
])('a certificate %s is refused with one line', async (_, host, ca, reason) => {
  const url = server.url(host, ca);
  const script = `import { runMigrations } from ${JSON.stringify(new URL('../src/database/migrate.ts', import.meta.url).href)};
    await runMigrations('notes', ${JSON.stringify(migrations)});`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { MIGRATION_DATABASE_URL: url },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^[^\\n]*${reason}[^\\n]*\\n$`))]);
  await using service = await startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: url },
  });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${service.url}/v1/notes/a`)).status).toBe(503);
  const lines = () => service.lines.filter((line) => line.includes('"msg":"The certificate'));
  await expect.poll(lines).toEqual([expect.stringContaining(reason)]);
});

test.each([
  ['a file that does not exist', '?sslmode=verify-full&sslrootcert=/none/ca.crt', 'does not exist'],
  ['a file that would not be used', '?sslmode=require&sslrootcert=/none/ca.crt', 'needs sslmode=verify-full'],
])('a URL with %s is refused', (_, query, reason) => {
  expect(() => serverOf(`postgres://localhost/notes${query}`)).toThrow(reason);
});
