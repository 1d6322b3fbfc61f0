import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { workerUser } from '../src/config.ts';
import { nginxPath, startGateway, waitFor, type Gateway } from './gateway.ts';
import { request } from './http.ts';
import { startService } from './service.ts';

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-process-'));
});
afterEach(() => rm(home, { recursive: true }));

const run = async (file: string, args: string[]) => {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
};

const large = 'x'.repeat(1_000_000);

/** A request whose body is larger than any buffer of nginx. */
const putLarge = ({ port }: Gateway) =>
  request(port, '/v1/quests/1/questions', 'PUT', [`Content-Length: ${large.length}`], large);

describe('accounts', () => {
  test('if root starts the gateway, its workers run as another user and write only into its folders', async () => {
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
    expect((await putLarge(gateway)).status).toBe(200);
    const { uid } = await stat(join(gateway.runDir, 'client_body'));
    expect(uid === 0).toBe(false);
    const fileNames = ['client_body', 'conf', 'fastcgi', 'nginx.pid', 'proxy', 'scgi', 'uwsgi'];
    expect((await readdir(gateway.runDir)).toSorted()).toEqual(fileNames);
    expect((await readFile(join(gateway.runDir, 'nginx.pid'), 'utf8')).trim()).toBe(String(gateway.pid));
  });

  test('if another user starts the gateway, it writes only into its folders', async () => {
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'quest-service': service.address },
      ...(isRoot && { account: nobody }),
    });
    expect((await putLarge(gateway)).status).toBe(200);
    expect(service.received[0]?.body).toHaveLength(large.length);
  });

  test('workers run as an unprivileged user only if it can enter the folders', async () => {
    const folder = join(home, 'docs');
    await mkdir(folder);
    expect(await workerUser([folder])).toBe(isRoot ? 'root' : undefined);
    await chmod(home, 0o711);
    expect(await workerUser([folder])).toBeUndefined();
  });

  test('the portal is served from a folder that only root can reach', async () => {
    await writeFile(join(home, 'index.html'), 'portal');
    await using gateway = await startGateway({ docsDir: home });
    expect((await request(gateway.port, '/docs/')).body).toBe('portal');
  });
});

describe('signals', () => {
  test('SIGQUIT lets a running request finish', async () => {
    await using slow = await startService((_, response) => setTimeout(() => response.end('done'), 300));
    await using gateway = await startGateway({ upstreams: { 'quest-service': slow.address } });
    const answer = request(gateway.port, '/v1/quests');
    await waitFor(async () => slow.received[0], 'the request');
    await gateway.stop('SIGQUIT');
    expect((await answer).body).toBe('done');
  });

  test('SIGHUP does not abort an import that still runs ten seconds later', async () => {
    await using consignments = await startService();
    await using gateway = await startGateway({ upstreams: { consignments: consignments.address } });
    const upload = sendRequest({ port: gateway.port, path: '/v1/consignments/import', method: 'POST' });
    const responded = once(upload, 'response') as Promise<[IncomingMessage]>;
    for (let second = 0; second < 13; second++) {
      upload.write('a line\n');
      if (second === 1) process.kill(gateway.pid, 'SIGHUP');
      await sleep(1_000);
    }
    upload.end();
    const [response] = await responded;
    expect(response.statusCode).toBe(200);
    expect(consignments.received[0]?.body.toString()).toBe('a line\n'.repeat(13));
  });

  test('after kill -9 the gateway can start again on the same port', async () => {
    const first = await startGateway();
    await first.stop('SIGKILL');
    await using second = await startGateway({}, first.port);
    expect((await request(second.port, '/healthz')).status).toBe(200);
    await rm(dirname(first.runDir), { recursive: true });
  });

  test('SIGUSR1 reopens the logs, for rotation', async () => {
    await using gateway = await startGateway();
    const log = join(dirname(gateway.runDir), 'log', 'access.log');
    await rename(log, `${log}.1`);
    process.kill(gateway.pid, 'SIGUSR1');
    expect((await waitFor(() => stat(log).catch(() => undefined), 'the new log')).isFile()).toBe(true);
    await waitFor(async () => {
      await request(gateway.port, '/again', 'GET', ['X-Request-Id: again']);
      return (await readFile(log, 'utf8')).includes('"requestId":"again"') || undefined;
    }, 'an entry');
  });
});

describe('the command', () => {
  const render = fileURLToPath(new URL('../src/render.ts', import.meta.url));
  const write = (options: object) =>
    run(process.execPath, [render, '--out', home, '--options', JSON.stringify(options)]);

  test('writes a configuration with all options that nginx accepts', async () => {
    const { code, output } = await write({
      services: ['quest-service', 'consignments'],
      domain: 'platform.svc.cluster.local',
      ipv6: true,
      requestLog: 'failures',
      trustedProxies: ['fd00::/8', '10.0.0.1'],
      corsOrigins: ['https://app.example.com'],
      rateLimit: { perSecond: 50, burst: 100 },
      connectionsPerClient: 9,
      timeouts: { answer: 60_000 },
    });
    expect([code, output]).toEqual([0, '']);
    // Replaces paths and names that exist only in the image.
    const settings = join(home, 'settings.conf');
    const text = await readFile(settings, 'utf8');
    expect(text).toContain('include "/tmp/nginx/gateway-secret.conf";');
    expect(text).toContain('access_log "/dev/stdout" short ');
    await writeFile(
      settings,
      text
        .replaceAll(/^include.*$/gm, '')
        .replaceAll('/dev/stdout', 'access.log')
        .replace('gateway-telemetry', '127.0.0.1'),
    );
    // `resolve` needs a newer nginx, which only the rehearsal has.
    const upstreams = join(home, 'upstreams.conf');
    const servers = await readFile(upstreams, 'utf8');
    expect(servers).toContain('server consignments.platform.svc.cluster.local:8080 resolve;');
    await writeFile(upstreams, servers.replaceAll(/server \S+ resolve/g, 'server 127.0.0.1:8080'));
    const args = ['-t', '-e', 'stderr', '-p', home, '-c', join(home, 'nginx.conf')];
    expect((await run(nginxPath(), args)).output).toContain('test is successful');
  });

  test('names each invalid option and writes nothing', async () => {
    const { code, output } = await write({ services: [], trustedProxies: ['x'], timeouts: { answer: 0 } });
    expect(code).toBe(1);
    expect(output).toMatch(/→ at trustedProxies\[0\][^]*→ at timeouts.answer/);
    expect(await readdir(home)).toEqual([]);
  });
});

test('killing the process that started nginx for a test stops nginx and removes its folder', async () => {
  const script = `
    const { startGateway } = await import(${JSON.stringify(import.meta.resolve('./gateway.ts'))});
    const { pid, runDir } = await startGateway({ nginx: ${JSON.stringify(nginxPath())} });
    console.log(JSON.stringify({ pid, runDir }));`;
  const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const { pid, runDir } = JSON.parse(String(line)) as { pid: number; runDir: string };
  const isRunning = () => {
    try {
      // The process group: master and workers.
      return process.kill(-pid, 0);
    } catch {
      return false;
    }
  };
  expect(isRunning()).toBe(true);
  starter.kill('SIGKILL');
  await expect.poll(isRunning).toBe(false);
  await expect
    .poll(() =>
      stat(runDir).then(
        () => true,
        () => false,
      ),
    )
    .toBe(false);
});
