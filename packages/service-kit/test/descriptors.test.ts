import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, inject, test, vi } from 'vitest';
import { cloneDatabase, startServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

/** The status of the first response; empty when the connection is closed without one. */
const firstStatus = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (head) => resolve(head.toString().slice(9, 12)));
    socket.once('close', () => resolve(''));
  });

test('with more connections than file descriptors a process answers 503 or closes them, and recovers', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: database.url },
  });
  execFileSync('prlimit', ['--pid', String(service.pid), '--nofile=64']);
  const sockets = Array.from({ length: 100 }, () => connect(service.port, '127.0.0.1'));
  const statuses: string[] = [];
  const answers = sockets.map(async (socket) => statuses.push(await firstStatus(socket)));
  // All are open before the first needs the database and stay open, so that its connections find no descriptor.
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
  const request = 'GET /v1/notes/one HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const socket of sockets) socket.write(request);
  await vi.waitFor(() => expect(statuses).toContain('503'), 10_000);
  for (const socket of sockets) socket.destroy();
  await Promise.all(answers);
  for (const status of statuses) expect(['', '404', '503']).toContain(status);
  const status = async () => (await fetch(`${service.url}/v1/notes/one`)).status;
  await expect.poll(status, { timeout: 10_000 }).toBe(404);
  expect(service.lines.join('')).not.toContain('internal_error');
  expect(await service.stop()).toBe(0);
}, 30_000);
