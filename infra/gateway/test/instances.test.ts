import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startGateway, waitFor, freePort } from './gateway.ts';
import { request } from './http.ts';
import { startService } from './service.ts';

const post = (port: number) => request(port, '/callback/debit', 'POST', ['Content-Length: 2'], '{}');
const statuses = async (port: number, count: number): Promise<number[]> => {
  const responseStatuses: number[] = [];
  for (let i = 0; i < count; i += 1) responseStatuses.push((await post(port)).status);
  return responseStatuses;
};
const allOk = (count: number): number[] => Array.from({ length: count }, () => 200);

const isConnected = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.setTimeout(2000, () => resolve(false));
  });

/** Starts a server that is suspended with a full queue of new connections, like a host that does not respond. */
const startUnresponsive = async (): Promise<{ address: string } & AsyncDisposable> => {
  const port = await freePort();
  const listen = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1', backlog: 1 })`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: 'ignore' });
  const sockets: Socket[] = [];
  const connectOnce = (): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    return isConnected(socket);
  };
  await waitFor(async () => (await connectOnce()) || undefined, 'the server');
  child.kill('SIGSTOP');
  await waitFor(async () => !(await connectOnce()) || undefined, 'a full queue');
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
};

describe('a service with two instances', () => {
  test('serves every request while they restart directly one after another', async () => {
    const [first, second] = [await freePort(), await freePort()];
    const upstreams = { 'wallet-operator': [`127.0.0.1:${first}`, `127.0.0.1:${second}`] };
    await using gateway = await startGateway({ upstreams });
    for (const [running, restarting] of [
      [first, second],
      [second, first],
      [first, second],
    ]) {
      await using _service = await startService(undefined, running);
      expect(await statuses(gateway.port, 8), `${restarting} restarts`).toEqual(allOk(8));
    }
  });

  test('serves a POST although the host of one instance does not respond', async () => {
    await using unresponsive = await startUnresponsive();
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'wallet-operator': [unresponsive.address, service.address] },
      timeouts: { connect: 200 },
    });
    expect(await statuses(gateway.port, 4)).toEqual(allOk(4));
    expect(service.received).toHaveLength(4);
  });

  test.each([
    ['/callback/debit', 'wallet-operator'],
    ['/api/v1/hooks/order_updated/token', 'store-webhooks'],
    ['/api/v1/tasks', 'task-manager'],
  ])('sends a POST to %s only once, even if an instance closes its connection', async (path, name) => {
    await using closing = await startService((_, response) => void response.destroy());
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { [name]: [closing.address, service.address] } });
    const responseStatuses = [];
    for (let sent = 0; sent < 2; sent += 1)
      responseStatuses.push((await request(gateway.port, path, 'POST', ['Content-Length: 2'], '{}')).status);
    expect(responseStatuses.toSorted((a, b) => a - b)).toEqual([200, 502]);
    expect([closing.received.length, service.received.length]).toEqual([1, 1]);
  });

  test('sends no further request to an instance that has accepted one and does not respond', async () => {
    await using service = await startService();
    const pending: Promise<unknown>[] = [];
    {
      await using frozen = await startService(() => undefined);
      await using gateway = await startGateway({
        upstreams: { 'wallet-operator': [frozen.address, service.address] },
      });
      while (frozen.received.length === 0) {
        const sent = pending.push(post(gateway.port));
        const isReceived = () => frozen.received.length + service.received.length === sent;
        await waitFor(() => Promise.resolve(isReceived() || undefined), 'the request');
      }
      expect(await statuses(gateway.port, 20)).toEqual(allOk(20));
      expect(frozen.received).toHaveLength(1);
    }
    await Promise.all(pending);
  });

  test('sends no further request to an instance that failed', async () => {
    await using failing = await startService((_, response) => void response.destroy());
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'quest-service': [failing.address, service.address] },
    });
    for (let sent = 0; sent < 8; sent += 1)
      expect((await request(gateway.port, '/v1/quests')).status).toBe(200);
    expect([failing.received.length, service.received.length]).toEqual([1, 8]);
  });

  test('sends fewer requests to an instance that responds more slowly', async () => {
    const total = 40;
    let unsent = total;
    const delayed: { after: number; respond: () => void }[] = [];
    // A request of the slow instance takes as long as four of the other.
    const respondIfDue = (): void => {
      const isLast = slow.received.length + service.received.length === total;
      for (const { after, respond } of delayed) if (isLast || service.received.length >= after) respond();
    };
    await using slow = await startService((_, response) => {
      delayed.push({ after: service.received.length + 4, respond: () => response.end() });
      respondIfDue();
    });
    await using service = await startService((_, response) => {
      response.end();
      respondIfDue();
    });
    await using gateway = await startGateway({
      upstreams: { 'wallet-operator': [slow.address, service.address] },
    });
    const client = async (): Promise<void> => {
      while (unsent-- > 0) expect((await post(gateway.port)).status).toBe(200);
    };
    await Promise.all(Array.from({ length: 4 }, client));
    expect(slow.received.length).toBeLessThan(total / 2);
  });

  test('still sends requests to an instance whose import failed', async () => {
    await using failing = await startService(({ url }, response) =>
      url.endsWith('/import') ? response.destroy() : response.end(),
    );
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { consignments: [failing.address, service.address] },
    });
    while (failing.received.length === 0)
      await request(gateway.port, '/v1/consignments/import', 'POST', ['Content-Length: 2'], '{}');
    for (let count = 0; count < 4; count += 1)
      expect((await request(gateway.port, '/v1/consignments')).status).toBe(200);
    expect(failing.received.map(({ url }) => url)).toContain('/v1/consignments');
  });

  test('closes idle connections before a stopping instance would', async () => {
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
    await request(gateway.port, '/v1/quests');
    await expect.poll(() => service.openConnections()).toBe(0);
  });
});
