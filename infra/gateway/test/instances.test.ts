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

  test('closes idle connections before a stopping instance would', async () => {
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
    await request(gateway.port, '/v1/quests');
    await expect.poll(() => service.openConnections()).toBe(0);
  });
});
