import { startPruning } from '@platform/service-kit/pruning';
import { expect, test } from 'vitest';
import { register, startService, variablesFor } from '../test/harness.ts';
import { startProcess } from '../test/service-process.ts';
import { hasNetwork } from './auth/queries.ts';
import { outdated } from './outdated.ts';

test('expired sessions, networks and idempotency keys are deleted in the background, even if their user never returns; others stay', async () => {
  await using service = await startService();
  const { context, app } = service;
  const { sql } = context.database;
  const [absent, active] = [await register(app), await register(app)];
  for (const { as } of [absent, active])
    await as('post', '/tasks').set('Idempotency-Key', 'k').send({ title: 'x' });
  const setExpiry = (id: string, seconds: number) => sql`
    with sessions as (update sessions set expires_at = now() + make_interval(secs => ${seconds}) where user_id = ${id}),
      networks as (update known_networks set seen_at = now() - interval '90 days' + make_interval(secs => ${seconds})
        where user_id = ${id})
    update idempotency_keys set created_at = now() - interval '1 day' + make_interval(secs => ${seconds})
    where owner = ${id}::text`;
  await setExpiry(absent.user.id, -1);
  await setExpiry(active.user.id, 600);
  await using _pruning = startPruning({ sql, log: context.log, prunables: outdated });
  for (const [table, column] of [
    ['sessions', 'user_id'],
    ['known_networks', 'user_id'],
    ['idempotency_keys', 'owner'],
  ] as const) {
    const owners = async () =>
      (await sql`select ${sql(column)} as owner from ${sql(table)}`).map((row) => row['owner']);
    await expect.poll(owners, { message: table }).toEqual([active.user.id]);
  }
  expect(await sql`select from users`).toHaveLength(2);
  expect(await sql`select from tasks`).toHaveLength(2);
});

test('each of these deletions finds its rows with an index', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await sql`set enable_seqscan = off`;
  for (const { table, outdated: condition } of outdated) {
    const plan = await sql.unsafe(`explain select ctid from ${table} where ${condition} limit 1000`);
    expect(JSON.stringify(plan)).toMatch(/Index (Only )?Scan/);
  }
});

test('a network counts as known for 90 days, even if its row is not deleted yet', async () => {
  await using service = await startService();
  const { context, app } = service;
  const { email, user } = await register(app);
  const { sql } = context.database;
  const [row] = await sql<{ network: string }[]>`select network from known_networks`;
  const isKnown = () => hasNetwork(context.database.sql, email, row?.network ?? '');
  const setAge = (hours: number) => sql`
    update known_networks set seen_at = now() - make_interval(hours => ${hours}) where user_id = ${user.id}`;
  expect(await isKnown()).toBe(true);
  await setAge(90 * 24 - 1);
  expect(await isKnown()).toBe(true);
  await setAge(90 * 24 + 1);
  expect(await isKnown()).toBe(false);
});

test('a process of the service starts these deletions', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await register(service.app);
  await sql`update sessions set expires_at = now() - interval '1 second'`;
  await using _process = await startProcess(variablesFor(service.databaseUrl));
  await expect.poll(async () => (await sql`select from sessions`).length).toBe(0);
});
