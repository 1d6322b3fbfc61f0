import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareGateway } from '@platform/gateway/files';
import { freePort } from '@platform/local/ports';
import { inherited } from '../env.ts';

/** The gateway in front of one service, as `start` configures it. `secret` is the GATEWAY_SECRET of the service. */
export const startGateway = async (service: string, upstream: string, secret: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  chmodSync(folder, 0o711);
  const address = `127.0.0.1:${await freePort()}`;
  const { args } = await prepareGateway({
    listen: address,
    upstreams: { [service]: new URL(upstream).host },
    runDir: join(folder, 'run'),
    logDir: join(folder, 'log'),
    secret,
  });
  const child = spawn('nginx', args, { env: inherited, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  const url = `http://${address}`;
  while ((await fetch(url).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error('nginx did not start');
    await sleep(20);
  }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
};
