import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { createTestDatabase, register, startService } from './harness.ts';

/** Creates a database role with the rights of the production role: to read and write rows and to call functions. */
const createRuntimeRole = async (databaseUrl: string) => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  const role = `rows_${randomUUID().replaceAll('-', '')}`;
  await sql.unsafe(`
    create role ${role} login password 'rows';
    revoke all on schema tested from public;
    grant usage on schema tested to ${role};
    revoke execute on all functions in schema tested from public;
    grant select, insert, update, delete on all tables in schema tested to ${role};
    grant execute on all functions in schema tested to ${role};`);
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = 'rows';
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
      await sql.end();
    },
  };
};

test('the service needs only the rights to read and write rows and to call functions', async () => {
  await using database = await createTestDatabase();
  await using role = await createRuntimeRole(database.url);
  await using service = await startService({ databaseUrl: role.url });
  const { as } = await register(service.app);
  const { status, body } = await as('post', '/tasks').set('Idempotency-Key', 'k').send({ title: 'x' });
  expect(status).toBe(201);
  expect((await as('patch', `/tasks/${body.id}`).send({ title: 'y' })).status).toBe(200);
  expect((await as('get', '/tasks?page=30')).status).toBe(200);
  expect((await as('delete', `/tasks/${body.id}`)).status).toBe(204);
  expect((await as('get', '/auth/logout')).status).toBe(204);
  await expect(service.context.database.sql`create table more ()`).rejects.toThrow('permission denied');
});
