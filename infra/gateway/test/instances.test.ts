import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startGateway, until, freePort } from './gateway.ts';
import { request } from './http.ts';
import { startService } from './service.ts';

const post = (port: number) => request(port, '/callback/debit', 'POST', ['Content-Length: 2'], '{}');
const statuses = async (port: number, count: number): Promise<number[]> => {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await post(port)).status);
  return seen;
};
const allOk = (count: number): number[] => Array.from({ length: count }, () => 200);

const isConnected = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.setTimeout(2000, () => resolve(false));
  });

/** A server whose host does not answer: stopped, and its queue of new connections is full. */
const startSilent = async (): Promise<{ place: string } & AsyncDisposable> => {
  const port = await freePort();
  const listen = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1', backlog: 1 })`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: 'ignore' });
  const sockets: Socket[] = [];
  const connectOnce = (): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    return isConnected(socket);
  };
  await until(async () => (await connectOnce()) || undefined, 'the server');
  child.kill('SIGSTOP');
  await until(async () => !(await connectOnce()) || undefined, 'a full queue');
  return {
    place: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
};

describe('a service with two instances', () => {
  test('serves every request while they restart one directly after the other', async () => {
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

  test('serves a POST although the host of one does not answer', async () => {
    await using silent = await startSilent();
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'wallet-operator': [silent.place, service.place] },
      timeouts: { connect: 200 },
    });
    expect(await statuses(gateway.port, 4)).toEqual(allOk(4));
    expect(service.received).toHaveLength(4);
  });

  test.each([
    ['/callback/debit', 'wallet-operator'],
    ['/api/v1/hooks/order_updated/token', 'store-webhooks'],
    ['/api/v1/tasks', 'task-manager'],
  ])('sends a POST to %s once, although an instance closes the connection on it', async (path, name) => {
    await using closing = await startService((_, response) => void response.destroy());
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { [name]: [closing.place, service.place] } });
    const answers = [];
    for (let sent = 0; sent < 2; sent += 1)
      answers.push((await request(gateway.port, path, 'POST', ['Content-Length: 2'], '{}')).status);
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, 502]);
    expect([closing.received.length, service.received.length]).toEqual([1, 1]);
  });

  test('closes an idle connection before a stopping instance does', async () => {
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { 'quest-service': service.place } });
    await request(gateway.port, '/v1/quests');
    await expect.poll(() => service.openConnections()).toBe(0);
  });
});
