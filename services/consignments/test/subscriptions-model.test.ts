import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '@platform/outgoing-webhooks/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startService, tokens } from './harness.ts';
import { warehouseInput } from './inputs.ts';

/** A subscriber that is slow, refuses and disconnects at random, and stores what it has acknowledged, by record. */
const startPoorReceiver = async (trouble: number) => {
  const acknowledged = new Map<string, number[]>();
  const broken: string[] = [];
  const { received, url } = await startReceiver(async ({ event }, res) => {
    const { id, version } = event.data;
    const before = acknowledged.get(id) ?? [];
    // A version that was acknowledged before may be sent again.
    if (!before.includes(version) && before.some((other) => other > version)) broken.push(`${id} ${version}`);
    await sleep(Math.random() * 5);
    const chance = Math.random();
    if (chance < trouble / 2) return void res.destroy();
    if (chance < trouble) return void res.writeHead(503).end();
    acknowledged.set(id, [...(acknowledged.get(id) ?? []), version]);
    return void res.writeHead(204).end();
  });
  return { url, acknowledged, broken, received };
};

test('two instances, one of them restarted repeatedly, deliver every change to a failing subscriber, in order per record', async () => {
  const service = await startService();
  onTestFinished(() => service[Symbol.asyncDispose]());
  service.context.subscriptions.start();
  const { sql } = service.context.database;
  const calm = await startPoorReceiver(0);
  const poor = await startPoorReceiver(0.3);
  const writer = `Bearer ${await tokens.token({ sub: 'ann', scope: 'consignments:write consignments:subscriptions' })}`;
  for (const { url } of [calm, poor])
    await service
      .post('/feeds/consignments/subscriptions', { url, lists: ['warehouses'] })
      .set('Authorization', writer)
      .expect(201);

  let isWriting = true;
  const write = async (): Promise<void> => {
    const ids: string[] = [];
    while (isWriting) {
      const id = ids[Math.floor(Math.random() * ids.length * 1.3)];
      if (id === undefined) {
        const made = await service.post('/warehouses', warehouseInput()).expect(201);
        ids.push((made.body as { id: string }).id);
      } else await service.patch(`/warehouses/${id}`, { name: `Name ${Math.random()}` }).expect(200);
    }
  };
  const replace = async (): Promise<void> => {
    while (isWriting) {
      const other = await startService({ databaseUrl: service.databaseUrl });
      other.context.subscriptions.start();
      await sleep(500 + Math.random() * 500);
      await other[Symbol.asyncDispose]();
    }
  };
  /** Makes all retries due now, because pauses take up to hours. */
  const hurry = () =>
    sql.begin(async (tx) => {
      await tx`update subscriptions set due_at = now()`;
      await tx`update subscription_held set due_at = now() where due_at <> 'infinity'`;
    });
  const work = Promise.all([write(), write(), write(), replace()]);
  for (let round = 0; round < 30; round++) {
    await sleep(100);
    await hurry();
  }
  isWriting = false;
  await work;

  // Reading moves pending changes to the log.
  await service.read('/feeds/consignments/warehouses').expect(200);
  const changes = await sql<{ record: string; position: number }[]>`
    select record, position::int from feed_log where list = 'warehouses' order by position`;
  const expected = Map.groupBy(changes, ({ record }) => record);
  for (const { acknowledged, broken } of [calm, poor]) {
    await vi.waitFor(
      async () => {
        await hurry();
        for (const [record, versions] of expected)
          expect(new Set(acknowledged.get(record))).toEqual(
            new Set(versions.map(({ position }) => position)),
          );
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(broken).toEqual([]);
  }
  // Nothing is sent twice to a subscriber that acknowledges, also when an instance stops.
  expect(calm.received).toHaveLength(changes.length);
  expect(changes.length).toBeGreaterThan(50);
}, 120_000);
