import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareGateway } from '@platform/gateway/files';

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** nginx in front of services that run; `spans` is where it tells of requests. */
export const startGateway = async (nginx: string, upstreams: Record<string, string>, spans: string) => {
  const home = await mkdtemp(join(tmpdir(), 'deploy-gateway-'));
  const port = await freePort();
  const logDir = join(home, 'log');
  const listen = `127.0.0.1:${port}`;
  const { args } = await prepareGateway({ listen, upstreams, runDir: join(home, 'run'), logDir, spans });
  const child = spawn(nginx, args, { cwd: '/', detached: true, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = `http://${listen}`;
  for (let left = 500; left > 0 && !(await answers(url)); left--) await sleep(10);
  return {
    url,
    log: () => readFile(join(logDir, 'access.log'), 'utf8'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(home, { recursive: true, force: true });
    },
  };
};
