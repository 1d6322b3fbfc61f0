import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from './send.ts';
import { secretOf } from './secret.ts';

const receivers = [
  ['Node.js', process.execPath, () => ['receiver.mjs']],
  ['Python', 'python3', () => ['receiver.py']],
  ['PHP', 'php', (port: number) => ['-S', `127.0.0.1:${port}`, 'receiver.php']],
] as const;

const [secret, newSecret, otherSecret] = [1, 2, 3].map((generation) =>
  secretOf('ab'.repeat(32), { id: 'subscription', generation }),
) as [string, string, string];
const body = JSON.stringify({ type: 'warehouse.updated', data: { id: 'w-1', name: 'Tõrva 🏠' } });

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** Runs a receiver with `secret` until disposal. */
const start = async (program: string, argumentsOf: (port: number) => readonly string[]) => {
  const port = await freePort();
  // `env` adds these variables to those of the test and starts the program.
  const child = spawn('env', [`SECRET=${secret}`, `PORT=${port}`, program, ...argumentsOf(port)], {
    cwd: new URL('../receivers', import.meta.url),
    stdio: 'ignore',
  });
  const post = async (headers: Record<string, string>, sent = body) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: sent })).status;
  await expect.poll(() => post({}).catch(() => 'not yet')).toBe(401);
  return {
    post,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
};

describe.for(receivers)('the receiver in %s', ([, program, argumentsOf]) => {
  test.skipIf(spawnSync(program, ['--version']).status !== 0)(
    'accepts only messages that were signed with its secret in the last minutes',
    async () => {
      await using receiver = await start(program, argumentsOf);
      const sign = (secrets: string[], at = new Date()) => signedHeaders(secrets, 'evt_1', body, at);
      expect(await receiver.post(sign([secret]))).toBe(204);
      expect(await receiver.post(sign([newSecret, secret]))).toBe(204);
      expect(await receiver.post(sign([otherSecret]))).toBe(401);
      expect(await receiver.post(sign([secret]), body.replace('w-1', 'w-2'))).toBe(401);
      expect(await receiver.post({ ...sign([secret]), 'webhook-id': 'evt_2' })).toBe(401);
      for (const minutes of [-6, 6])
        expect(await receiver.post(sign([secret], new Date(Date.now() + minutes * 60_000)))).toBe(401);
    },
  );
});
