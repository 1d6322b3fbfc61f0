import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { redisAnswers } from './redis.ts';

test('tests get a PostgreSQL 18 with its superuser', async () => {
  const sql = postgres(inject('postgresUrl'), { max: 1 });
  const [row] =
    await sql`select current_setting('server_version_num')::int / 10000 as major, usesuper from pg_user where usename = current_user`;
  expect(row).toEqual({ major: 18, usesuper: true });
  await sql.end();
});

test('tests get a Redis that answers', async () => {
  expect(await redisAnswers(inject('redisUrl') ?? '')).toBe(true);
});
