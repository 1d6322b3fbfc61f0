import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { fire, startProcess } from './process.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

/** To the server and to each of its children, which are in no group with it; a stopped server starts and reaps none. */
const signalAll = async (name: NodeJS.Signals): Promise<void> => {
  process.kill(postgres.pid, 'SIGSTOP');
  const children = await readFile(`/proc/${postgres.pid}/task/${postgres.pid}/children`, 'utf8');
  for (const pid of [...children.trim().split(' ').map(Number), postgres.pid]) process.kill(pid, name);
};

const outages = [
  {
    name: 'stopped',
    begin: async () => void process.kill(postgres.pid, 'SIGINT'),
    finish: () => postgres.restart(),
  },
  {
    // Connections stay open without an answer, as when a machine swaps or a network drops packets.
    name: 'hanging',
    begin: () => signalAll('SIGSTOP'),
    finish: () => signalAll('SIGCONT'),
  },
];

test.each(outages)(
  'PostgreSQL $name under load: known tokens get 200 all the while and all their events arrive, unknown ones 503',
  async ({ begin, finish }) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { id, webhookToken } = await service.store();
    await using running = await startProcess(service);
    using load = fire(running.url, webhookToken, 'o');
    while (load.acknowledged.length < 100) await sleep(20);
    await begin();
    const before = load.acknowledged.length;
    // More than may be in progress while a process gets more than it can answer.
    using crowd = fire(running.url, webhookToken, 'c', 1000, 300);
    const answered = () => crowd.acknowledged.length + crowd.unacknowledged.length;
    await expect.poll(answered).toBe(1000);
    // More than can be on its way to the database, so some of them are in the spool.
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(before + 50);
    const stranger = `${running.url}/api/v1/hooks/order_updated/${'U'.repeat(43)}`;
    const unknown = await fetch(stranger, { method: 'POST', body: '{}' });
    expect([unknown.status, Number(unknown.headers.get('retry-after')) > 0]).toEqual([503, true]);
    await finish();
    const after = load.acknowledged.length;
    while (load.acknowledged.length < after + 100) await sleep(20);
    await load.stop();
    expect(load.refused).toEqual([]);
    // 408: on a busy machine this process needs longer for the head of a request than the service waits.
    expect(crowd.refused.filter((status) => status !== 408)).toEqual([]);
    const spooled = async () =>
      (await readdir(service.spool, { recursive: true })).filter((name) => name.endsWith('.spool'));
    while ((await spooled()).length > 0) await sleep(100);
    await service.settled();
    const { sql } = service.context.database;
    const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
    const known = new Set(orders.map((order) => order.id));
    expect([...load.acknowledged, ...crowd.acknowledged].filter((one) => !known.has(one))).toEqual([]);
    const [{ twice } = {}] =
      await sql`select count(*) - count(distinct entity) as twice from inbox where store_id = ${id}`;
    expect(Number(twice)).toBe(0);
    // Connections that had waited too long are replaced first.
    await expect.poll(async () => (await fetch(stranger, { method: 'POST', body: '{}' })).status).toBe(404);
    expect(await running.stop()).toBe(0);
  },
);
