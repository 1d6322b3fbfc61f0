import { readFile } from 'node:fs/promises';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

/** To the server first, which then starts and reaps no process, and to its children. */
const freeze = async (): Promise<number[]> => {
  process.kill(postgres.pid, 'SIGSTOP');
  const children = await readFile(`/proc/${postgres.pid}/task/${postgres.pid}/children`, 'utf8');
  const pids = children.trim().split(' ').map(Number);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return [...pids, postgres.pid];
};

const order = (id: string) => ({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });

test('while PostgreSQL hangs, webhooks that pile up are in the spool long before one that is alone is given up', async () => {
  await using quiet = await startService({ serverUrl: postgres.url, work: false });
  await using busy = await startService({ serverUrl: postgres.url, work: false });
  const [quietStore, busyStore] = [await quiet.store(), await busy.store()];
  const send = async (service: typeof busy, token: string, id: string) =>
    (await service.hook('order_updated', token, order(id))).status;
  // Known tokens: an outage is not the first time that they are seen.
  expect(await send(quiet, quietStore.webhookToken, 'first')).toBe(200);
  expect(await send(busy, busyStore.webhookToken, 'first')).toBe(200);
  const frozen = await freeze();
  const ends: string[] = [];
  try {
    const alone = send(quiet, quietStore.webhookToken, 'alone').finally(() => ends.push('alone'));
    const many = Array.from({ length: 40 }, (_, at) =>
      send(busy, busyStore.webhookToken, `o-${at}`).finally(() => ends.push('one of many')),
    );
    expect(new Set(await Promise.all([alone, ...many]))).toEqual(new Set([200]));
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  }
  // Not all: some may be slow on a busy machine.
  expect(ends.indexOf('alone')).toBeGreaterThan(ends.length / 2);
  const events = async () => (await busy.context.database.sql`select from events`).length;
  await expect.poll(events).toBe(41);
});
