import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** The real process on the harness's database and spool. */
const startProcess = async (service: { databaseUrl: string; spool: string }) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: new URL('..', import.meta.url).pathname,
    env: {
      PATH: process.execPath,
      PORT: String(port),
      DATABASE_URL: service.databaseUrl,
      SPOOL_DIR: service.spool,
      SECRETS_KEY: 'ab'.repeat(32),
      AUTH_JWKS: 'none.json',
      AUTH_ISSUER: 'x',
      AUTH_AUDIENCE: 'x',
      LOG_LEVEL: 'silent',
      LEASE_MS: '5000',
      RETRY_BASE_MS: '20',
      IDLE_POLL_MS: '50',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const alive = () =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await alive())) await sleep(50);
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number];
      return code;
    },
  };
};

/** Sends orders one after another over some connections until told to stop; gives the acknowledged ids. */
const fire = (url: string, token: string, prefix: string) => {
  const acknowledged: string[] = [];
  let going = true;
  let next = 0;
  const connection = async (): Promise<void> => {
    while (going) {
      const id = `${prefix}-${next++}`;
      const body = JSON.stringify({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });
      try {
        const answer = await fetch(`${url}/api/v1/hooks/order_updated/${token}`, { method: 'POST', body });
        if (answer.status === 200) acknowledged.push(id);
      } catch {
        await sleep(10);
      }
    }
  };
  const running = Promise.all(Array.from({ length: 16 }, connection));
  return {
    acknowledged,
    stop: async () => {
      going = false;
      await running;
    },
  };
};

test(
  'kill -9 under load at any moment: every acknowledged event is processed, its effect there once',
  { timeout: 120_000 },
  async () => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { id, webhookToken } = await service.store();
    const acknowledged: string[] = [];
    for (let round = 0; round < 5; round++) {
      const running = await startProcess(service);
      const load = fire(running.url, webhookToken, `r${round}`);
      await sleep(300 + Math.random() * 500);
      await running.kill();
      await load.stop();
      acknowledged.push(...load.acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThan(50);
    const last = await startProcess(service);
    await service.settled();
    expect(await last.stop()).toBe(0);
    const { sql } = service.context.database;
    const inbox = await sql<{ entity: string }[]>`select entity from inbox where store_id = ${id}`;
    const stored = inbox.map(({ entity }) => entity.slice('order:'.length));
    expect(new Set(stored).size).toBe(stored.length);
    const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
    const known = new Set(orders.map((order) => order.id));
    expect(acknowledged.filter((one) => !known.has(one))).toEqual([]);
    const told =
      await sql`select reference, count(*)::int from notifications where store_id = ${id} group by 1 having count(*) <> 1`;
    expect(told).toEqual([]);
    const [{ count } = {}] = await sql`select count(*)::int from notifications where store_id = ${id}`;
    expect(count).toBe(orders.length);
  },
);

test(
  'PostgreSQL killed under load, then the service too: nothing that was acknowledged is lost',
  { timeout: 120_000 },
  async () => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { id, webhookToken } = await service.store();
    const running = await startProcess(service);
    const load = fire(running.url, webhookToken, 'p');
    while (load.acknowledged.length < 20) await sleep(20);
    await postgres.kill9();
    const before = load.acknowledged.length;
    while (load.acknowledged.length < before + 20) await sleep(20);
    await running.kill();
    await load.stop();
    await postgres.restart();
    const next = await startProcess(service);
    const { sql } = service.context.database;
    const spooled = async () =>
      (await readdir(service.spool, { recursive: true })).filter((name) => name.endsWith('.spool'));
    while ((await spooled()).length > 0) await sleep(100);
    await service.settled();
    const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
    const known = new Set(orders.map((row) => row.id));
    expect(load.acknowledged.filter((one) => !known.has(one))).toEqual([]);
    expect(await next.stop()).toBe(0);
    const [{ count } = {}] =
      await sql`select count(*) - count(distinct entity) as count from inbox where store_id = ${id}`;
    expect(Number(count)).toBe(0);
  },
);
