import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Traffic } from '@platform/e2e/load';
import type {} from '@platform/local/provided';
import { migrate } from '@platform/service-kit/migrate';
import { cloneDatabase, migrationsOf } from '@platform/service-kit/testing';
import { services } from '@platform/service-list';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { ROOT } from '../src/command.ts';
import { documentedCommands } from '../src/documented.ts';
import type { Deployment } from '../src/platform.ts';
import { dropOldColumn, renameColumn, migrateTooEarly } from '../src/rollout.ts';

/** Copies code and migrations of a service; disposal removes the copy. */
const copyService = async (service: string) => {
  const path = await mkdtemp(join(tmpdir(), 'next-version-'));
  for (const part of ['src', 'migrations'])
    await cp(join(ROOT, 'services', service, part), join(path, part), { recursive: true });
  const migrations = {
    ...(await migrationsOf(join(ROOT, 'services', service))),
    folder: join(path, 'migrations'),
  };
  return { path, migrations, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
};

test.each(services)(
  'the column of $name that the rehearsal renames exists in its code and its database',
  async ({ name: service, rehearsal }) => {
    await using copy = await copyService(service);
    await using database = await cloneDatabase(inject('postgresUrl'), copy.migrations);
    await renameColumn(service, copy.path);
    await migrate(database.url, copy.migrations);
    await dropOldColumn(service, copy.path);
    await migrate(database.url, copy.migrations);
    const sql = postgres(database.url, { max: 1 });
    const { table, column } = rehearsal.rename;
    const columns = await sql`select column_name from information_schema.columns where table_name = ${table}`;
    await sql.end();
    const names = columns.map(({ column_name }) => column_name as string);
    expect(names).toContain(`${column}_next`);
    expect(names).not.toContain(column);
  },
);

test('while both columns exist, each version of the code sees what the other writes', async () => {
  await using copy = await copyService('consignments');
  await using database = await cloneDatabase(inject('postgresUrl'), copy.migrations);
  const sql = postgres(database.url, { max: 1 });
  const insert = (name: string, column: string, country: string) => sql`
    insert into warehouses (id, code, name, city, status, ${sql(column)})
    values (gen_random_uuid(), ${name}, ${name}, 'Tartu', 1, ${country})`;
  const rows = () =>
    sql`select code, country_code as old, country_code_next as next from warehouses order by code`;
  await insert('before', 'country_code', 'EE');
  await renameColumn('consignments', copy.path);
  await migrate(database.url, copy.migrations);
  await insert('by new code', 'country_code_next', 'FI');
  await insert('by old code', 'country_code', 'SE');
  expect(await rows()).toEqual([
    { code: 'before', old: 'EE', next: 'EE' },
    { code: 'by new code', old: 'FI', next: 'FI' },
    { code: 'by old code', old: 'SE', next: 'SE' },
  ]);
  await sql`update warehouses set country_code = 'NO' where code = 'by new code'`;
  await sql`update warehouses set country_code_next = 'DK' where code = 'by old code'`;
  expect((await rows()).map(({ old, next }) => [old, next])).toEqual([
    ['EE', 'EE'],
    ['NO', 'NO'],
    ['DK', 'DK'],
  ]);
  await sql.end();
});

test.each([
  ['deploy.md', 'On one machine: compose'],
  ['deploy.md', 'Replace a version'],
  ['backup.md', 'Take a backup'],
  ['backup.md', 'Empty the databases'],
  ['backup.md', 'Restore'],
  ['backup.md', 'Check'],
  ['backup.md', 'All services'],
  ['backup.md', 'The ledger'],
])('docs/%s has the commands below "%s" that the rehearsal runs', async (page, heading) => {
  expect(await documentedCommands(page, heading)).toMatch(/docker compose|jq/);
});

const twoServices = ['quest-service', 'store-webhooks'];

/** Migrates a platform of two services; then each service answers one more request, and `failing` ones fail. */
const migrateAndAnswer = (traffic: Traffic, failing: readonly string[]): Promise<string[]> => {
  const answer = (): void => {
    for (const [service, { acknowledged, failures }] of Object.entries(traffic)) {
      if (failing.includes(service)) failures.push('status 500');
      else acknowledged.set(`after the migration of ${service}`, Date.now());
    }
  };
  // The requests follow the last migration.
  const compose = (command: string): Promise<string> => {
    if (command.includes(twoServices.at(-1) ?? '')) setImmediate(answer);
    return Promise.resolve('');
  };
  return migrateTooEarly({ services: twoServices, compose } as unknown as Deployment, traffic);
};

const trafficOf = (failures: Record<string, string[]> = {}): Traffic =>
  Object.fromEntries(
    twoServices.map((service) => [
      service,
      {
        requests: 1,
        acknowledged: new Map([['before', 0]]),
        failures: failures[service] ?? [],
        slowestMs: 0,
      },
    ]),
  );

test('after migrations that came too early requests fail, and webhooks are acknowledged', async () => {
  expect(await migrateAndAnswer(trafficOf(), ['quest-service'])).toEqual([]);
});

test('a request that failed before the migrations is a fault, and does not count as one that fails after them', async () => {
  const traffic = trafficOf({ 'quest-service': ['status 503'] });
  expect(await migrateAndAnswer(traffic, ['quest-service'])).toEqual(['quest-service: status 503']);
  expect(traffic['quest-service']?.failures).toHaveLength(2);
});

test('a webhook that fails after the migrations is a fault', async () => {
  const traffic = trafficOf();
  const faults = migrateAndAnswer(traffic, ['quest-service', 'store-webhooks']);
  await expect.poll(() => traffic['store-webhooks']?.failures).toHaveLength(1);
  traffic['store-webhooks']?.acknowledged.set('a later one', Date.now());
  expect(await faults).toEqual(['store-webhooks after the migrations: status 500']);
});
