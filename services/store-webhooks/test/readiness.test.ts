import { glob, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import { migrate } from '@platform/service-kit/migrate';
import { inTestSchema } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { migrations } from '../src/context.ts';
import { startProcess } from './process.ts';

const server = await startPostgres({ durable: true });
afterAll(() => server.stop());

/** Creates a database without tables. */
const createDatabase = async (name: string): Promise<string> => {
  const sql = postgres(server.url, { max: 1 });
  await sql`create database ${sql(name)}`;
  await sql.end();
  return inTestSchema(server.url.replace(/postgres$/, name));
};

/** Statuses of the probe of the Helm chart, and of the probe that includes the database. */
const probe = async ({ url }: { url: string }): Promise<[number, number]> => {
  const status = async (query: string) => (await fetch(`${url}/readyz${query}`)).status;
  return [await status('?exclude=database'), await status('')];
};

test('without its database the service is ready for webhooks only if it has seen the schema of its version before', async () => {
  await using disk = await mkdtempDisposable(join(tmpdir(), 'readiness-'));
  const service = { databaseUrl: await createDatabase('ready'), spool: disk.path };
  {
    await using first = await startProcess(service);
    expect(await probe(first)).toEqual([503, 503]);
    await server.kill9();
    expect(await probe(first)).toEqual([503, 503]);
    await server.restart();
    await migrate(service.databaseUrl, migrations);
    await expect.poll(() => probe(first)).toEqual([200, 200]);
    await server.kill9();
    await expect.poll(() => probe(first)).toEqual([200, 503]);
  }
  {
    await using restarted = await startProcess(service);
    expect(await probe(restarted)).toEqual([200, 503]);
  }
  // A new volume has no record of the schema.
  await using empty = await mkdtempDisposable(join(tmpdir(), 'readiness-'));
  await using moved = await startProcess({ ...service, spool: empty.path });
  expect(await probe(moved)).toEqual([503, 503]);
  // A migration of a newer version was not seen by the older one.
  for await (const file of glob('*/migrations', { cwd: disk.path })) {
    const path = join(disk.path, file);
    const seen = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, seen.slice(1).join('\n'));
    await using newer = await startProcess(service);
    expect(await probe(newer)).toEqual([503, 503]);
    await writeFile(path, [...seen, 'of a newer version'].join('\n'));
    await using older = await startProcess(service);
    expect(await probe(older)).toEqual([200, 503]);
  }
  await server.restart();
});

test('the state of the database takes precedence over the remembered one', async () => {
  await using disk = await mkdtempDisposable(join(tmpdir(), 'readiness-'));
  const service = { databaseUrl: await createDatabase('emptied'), spool: disk.path };
  await migrate(service.databaseUrl, migrations);
  {
    await using before = await startProcess(service);
    await expect.poll(() => probe(before)).toEqual([200, 200]);
  }
  const sql = postgres(service.databaseUrl, { max: 1 });
  await sql`truncate schema_migrations`;
  await sql.end();
  await using after = await startProcess(service);
  await expect.poll(() => probe(after)).toEqual([503, 503]);
});
