import { container } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

/** The most items that an order may have, as small as possible: in memory they take many times as much as in the body. */
const items = `[${Array(2000).fill('{"quantity":1}').join(',')}]`;
const orders = 600;

test('a long queue of orders with many small items is processed within the memory of the container', async () => {
  await using service = await startService({ work: false });
  const { sql } = service.context.database;
  const { webhookToken } = await service.store();
  const sendOrder = (id: number) =>
    service.hook('order_updated', webhookToken, `{"id":"o-${id}","status":"A","cart":{"items":${items}}}`);
  for (let sent = 0; sent < orders; sent += 50)
    await Promise.all(Array.from({ length: 50 }, (_, at) => sendOrder(sent + at)));
  await using server = await startProcess(service, {}, container.nodeArguments);
  await service.settled();
  expect(await sql`select state, count(*)::int from results group by state`).toEqual([
    { state: 'done', count: orders },
  ]);
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});
