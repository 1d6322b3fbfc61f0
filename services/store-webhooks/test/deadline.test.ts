import { expect, test } from 'vitest';
import { startService } from './harness.ts';

const input = { name: 'Corner shop', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };

test('a store whose commit takes longer than the deadline of its request is reported as created and as changed', async () => {
  await using service = await startService({ work: false, variables: { REQUEST_DEADLINE_MS: '2000' } });
  const { sql } = service.context.database;
  await sql`
    create function slow_commit() returns trigger language plpgsql as $$
    begin perform pg_sleep(3); return null; end $$`;
  await sql`
    create constraint trigger slow_commit after insert or update on stores deferrable initially deferred
    for each row execute function slow_commit()`;
  const created = await service.admin('POST', '/v1/stores', input);
  expect(created).toMatchObject({ status: 201, body: { name: 'Corner shop' } });
  const changed = await service.admin('PATCH', `/v1/stores/${created.body['id'] as unknown as string}`, {
    name: 'Other',
  });
  expect(changed).toMatchObject({ status: 200, body: { name: 'Other', clearedCredentials: [] } });
});
