import { Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { registerGauges } from '../src/metrics.ts';
import { startService } from './harness.ts';

test('the gauges count failed, refused and waiting events and mails of all stores', async () => {
  await using service = await startService({ work: false });
  const { sql } = service.context.database;
  const gauge = async (name: string): Promise<number> => {
    const page = await service.context.metrics.registry.getSingleMetricAsString(name);
    return Number(page.trim().split(' ').at(-1));
  };
  const allGauges = async () =>
    Object.fromEntries(
      await Promise.all(
        ['failed', 'refused', 'pending', 'mails_pending'].map(
          async (name) => [name, await gauge(`webhooks_${name}`)] as const,
        ),
      ),
    );
  // A scrape that the database delays returns the previous values.
  await expect.poll(allGauges).toEqual({ failed: 0, refused: 0, pending: 0, mails_pending: 0 });
  await expect.poll(() => gauge('webhooks_oldest_pending_seconds')).toBe(0);
  await expect.poll(() => gauge('webhooks_oldest_mail_seconds')).toBe(0);

  for (const { id, webhookToken } of [await service.store(), await service.store()]) {
    await service.hook('order_updated', webhookToken, '{"id": ');
    await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
    await sql`
      insert into results (store_id, id, state, attempts, finished_at)
      values (${id}, uuidv7(), 'refused', 0, now()),
        (${id}, uuidv7('-25 hours'), 'refused', 0, now() - interval '25 hours'),
        (${id}, uuidv7('-25 hours'), 'failed', 40, now()),
        (${id}, uuidv7('-50 hours'), 'failed', 40, now() - interval '25 hours')`;
    await sql`
      insert into notifications (store_id, id, key, kind, audience, change, subject, mail, due_at, created_at)
      values (${id}, uuidv7(), 'k', 'order', 'store', 'c', 's', 'pending', now(), now() - interval '1 hour')`;
  }
  await sql`update queue set queued_at = queued_at - interval '1 hour'`;
  // One failed at once, and one failed after it was retried for a day.
  await expect.poll(allGauges).toEqual({ failed: 4, refused: 2, pending: 2, mails_pending: 2 });
  await expect.poll(() => gauge('webhooks_oldest_pending_seconds')).toBeGreaterThanOrEqual(3600);
  await expect.poll(() => gauge('webhooks_oldest_mail_seconds')).toBeGreaterThanOrEqual(3600);
});

test('a store with many events that look like tests is counted until they are replayed with the right mapping', async () => {
  await using service = await startService();
  const { admin } = service;
  const gauge = () =>
    service.context.metrics.registry.getSingleMetricAsString('webhooks_stores_with_many_tests');
  const mappedAt = (path: string) => ({
    pos: { kind: 'generic', mapping: { order: { id: `${path}/id`, status: `${path}/status` } } },
  });
  const [wrapped, tested] = [await service.store(mappedAt('')), await service.store(mappedAt(''))];
  for (let n = 0; n < 5; n++) {
    await service.hook('order_updated', wrapped.webhookToken, { data: { id: `o-${n}`, status: 'A' } });
    await service.hook('order_updated', tested.webhookToken, { test: n % 4 });
  }
  await service.settled();
  await expect.poll(gauge).toMatch(/ 1$/m);
  await admin('PATCH', `/v1/stores/${wrapped.id}`, mappedAt('/data'));
  const span = { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', status: 'ignored' };
  await admin('POST', `/v1/stores/${wrapped.id}/events/replay`, span);
  await service.settled();
  expect((await admin('GET', `/v1/stores/${wrapped.id}/orders`)).body['orders']).toHaveLength(5);
  await expect.poll(gauge).toMatch(/ 0$/m);
});

test('a scrape reads the queue once, and the notifications once', async () => {
  await using service = await startService({ work: false });
  const { context } = service;
  const statements: string[] = [];
  const sql = new Proxy(context.database.sql, {
    apply: (target, self, args: [TemplateStringsArray]) => {
      statements.push(args[0].join(''));
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  const registry = new Registry();
  registerGauges({
    ...context,
    metrics: { ...context.metrics, registry },
    database: { ...context.database, sql },
  });
  for (const scrape of [1, 2]) {
    await registry.metrics();
    for (const table of ['queue', 'notifications'])
      expect(statements.filter((text) => text.includes(`from ${table}`))).toHaveLength(scrape);
  }
});
