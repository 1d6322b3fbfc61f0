import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ReceivedEvent } from '../src/inbox/event.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { startService } from './harness.ts';

test.each([
  ['in a JSON text', Buffer.from('{"id": "o-1", "status": "A\0B", "cart": {"items": []}}')],
  ['all over', Buffer.from([0, 0xff, 0, 0x7b, 0, 0x0a, 0xfe, 0])],
])('a body with NUL bytes %s is stored, spooled and replayed byte for byte', async (_name, sent) => {
  await using service = await startService();
  const { id, webhookToken } = await service.store();
  const answer = await fetch(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, {
    method: 'POST',
    body: sent,
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  const { sql } = service.context.database;
  const rows = () =>
    sql`select id, encode(dedup, 'hex') as dedup, body, state, received_at from inbox where store_id = ${id}`;
  const [stored] = await rows();
  expect(stored?.['body']).toEqual(sent);

  for (const table of ['events', 'queue', 'results'])
    await sql`delete from ${sql(table)} where store_id = ${id}`;
  let away = true;
  const spool = createSpool({
    folder: join(service.spool, 'bytes'),
    maxBytes: 1e6,
    log: service.context.log,
    pauseMs: 5,
    store: (events) => (away ? Promise.reject(new Error('away')) : storeEvents(sql, events)),
  });
  await spool.add({
    storeId: id,
    id: stored?.['id'] as string,
    event: 'order_updated',
    service: null,
    entity: null,
    dedup: stored?.['dedup'] as string,
    byContent: true,
    body: sent,
    headers: { 'content-type': 'application/json' },
    receivedAt: new Date(stored?.['received_at'] as string),
    state: 'failed',
    error: 'The body is not readable.',
    holdMs: 0,
  } satisfies ReceivedEvent);
  away = false;
  while (spool.active) await sleep(5);
  await spool[Symbol.asyncDispose]();
  expect(await rows()).toEqual([stored]);

  const path = `/v1/stores/${id}/events/${String(stored?.['id'])}`;
  expect((await service.admin('POST', `${path}/replay`)).status).toBe(202);
  await service.settled();
  expect((await rows())[0]).toMatchObject({ body: sent, state: 'failed' });
  expect((await service.admin('GET', path)).body).toMatchObject({ bytes: sent.length, body: null });
});
