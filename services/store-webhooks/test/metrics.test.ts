import { Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { addWaitingMetrics } from '../src/metrics.ts';
import { startService } from './harness.ts';

test('the gauges count what failed, was refused or waits, of all stores', async () => {
  await using service = await startService({ work: false });
  const { sql } = service.context.database;
  const gauge = async (name: string): Promise<number> => {
    const page = await service.context.metrics.registry.getSingleMetricAsString(name);
    return Number(page.trim().split(' ').at(-1));
  };
  const all = async () =>
    Object.fromEntries(
      await Promise.all(
        ['failed', 'refused', 'pending', 'mails_pending'].map(
          async (name) => [name, await gauge(`webhooks_${name}`)] as const,
        ),
      ),
    );
  // A scrape that the database keeps waiting has the values of the one before.
  await expect.poll(all).toEqual({ failed: 0, refused: 0, pending: 0, mails_pending: 0 });
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
  // One failed at once, and one after it had been retried for a day.
  await expect.poll(all).toEqual({ failed: 4, refused: 2, pending: 2, mails_pending: 2 });
  await expect.poll(() => gauge('webhooks_oldest_pending_seconds')).toBeGreaterThanOrEqual(3600);
  await expect.poll(() => gauge('webhooks_oldest_mail_seconds')).toBeGreaterThanOrEqual(3600);
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
  addWaitingMetrics({
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
