import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareGateway } from '@platform/gateway/files';
import { freePort } from '@platform/local/ports';
import { inherited } from '../env.ts';

export interface Proxy extends AsyncDisposable {
  url: string;
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

const run = async (folder: string, args: string[], url: string): Promise<Proxy> => {
  const child = spawn('nginx', args, { env: inherited, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error('nginx did not start');
    await sleep(20);
  }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
};

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  chmodSync(folder, 0o711);
  return folder;
};

/** nginx that does nothing but proxy to `upstream` over kept connections; it logs nothing. */
export const startBareNginx = async (upstream: string): Promise<Proxy> => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'tmp'), { mode: 0o777 });
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp;
  proxy_temp_path ${folder}/tmp/proxy;
  proxy_buffers 8 16k;
  upstream bare { server ${new URL(upstream).host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://bare; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  );
  return run(folder, ['-p', folder, '-e', 'stderr', '-c', file], `http://127.0.0.1:${port}`);
};

/** Our gateway in front of one service, as `start` configures it. `secret` is the GATEWAY_SECRET of the service. */
export const startGateway = async (service: string, upstream: string, secret: string): Promise<Proxy> => {
  const folder = makeFolder();
  const port = await freePort();
  const { args } = await prepareGateway({
    listen: `127.0.0.1:${port}`,
    upstreams: { [service]: new URL(upstream).host },
    runDir: join(folder, 'run'),
    logDir: join(folder, 'log'),
    secret,
  });
  return run(folder, args, `http://127.0.0.1:${port}`);
};
