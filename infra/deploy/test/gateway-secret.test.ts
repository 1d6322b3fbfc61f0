import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfig } from '@platform/gateway/config';
import { freePort } from '@platform/local/ports';
import {
  cloneServiceDatabase,
  startServiceProcess,
  type ServiceProcess,
} from '@platform/service-kit/testing';
import { expect, inject, test } from 'vitest';
import { inherited } from './env.ts';
import { runNginx } from './gateway.ts';
import { keys, root, serviceFolder } from './service.ts';

/** Uses a new connection, because a reload of nginx closes idle ones and a request on one of them could fail. */
const statusFor = async (url: string, client: string): Promise<number> => {
  const request = get(url, { agent: false, headers: { 'X-Forwarded-For': client } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
};

test('a step without its previous step is rejected and changes nothing', () => {
  const home = mkdtempSync(join(tmpdir(), 'gateway-secret-'));
  try {
    const folder = join(home, 'infra/deploy');
    const secretFile = join(folder, 'prepared/secrets/gateway-secret');
    mkdirSync(join(secretFile, '..'), { recursive: true });
    cpSync(join(root, 'infra/deploy/gateway-secret.sh'), join(folder, 'gateway-secret.sh'));
    for (const [secret, step] of [
      ['one', 'use'],
      ['one', 'retire'],
      ['one,two', 'add'],
    ] as const) {
      writeFileSync(secretFile, secret);
      const script = join(folder, 'gateway-secret.sh');
      const { status, stderr } = spawnSync('sh', [script, step], { env: inherited, encoding: 'utf8' });
      expect([status, stderr]).toEqual([2, expect.stringContaining(`${step}: there `)]);
      expect(readFileSync(secretFile, 'utf8')).toBe(secret);
    }
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('no request to two replicas is refused during the rotation of the gateway secret as in the guide', async () => {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(join(tmpdir(), 'gateway-secret-'));
  stack.defer(() => rmSync(home, { recursive: true }));
  chmodSync(home, 0o711);
  const secretFile = join(home, 'infra/deploy/prepared/secrets/gateway-secret');
  mkdirSync(join(secretFile, '..'), { recursive: true });
  writeFileSync(secretFile, 'a'.repeat(64), { mode: 0o444 });
  const rotation = join(home, 'infra/deploy/gateway-secret.sh');
  cpSync(join(root, 'infra/deploy/gateway-secret.sh'), rotation);
  const runStep = (step: string): void => {
    const { status, stderr } = spawnSync('sh', [rotation, step], { env: inherited, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  };

  const database = stack.use(
    await cloneServiceDatabase(inject('postgresUrl'), serviceFolder('quest-service')),
  );
  const jwks = join(home, 'jwks.json');
  writeFileSync(jwks, JSON.stringify(keys.jwks));
  const replicas: ServiceProcess[] = [];
  while (replicas.length < 2)
    replicas.push(
      stack.use(
        await startServiceProcess({
          folder: serviceFolder('quest-service'),
          variables: {
            DATABASE_URL: database.url,
            GATEWAY_SECRET_FILE: secretFile,
            // Each request comes from another client. If they were all counted for the gateway, most would be refused.
            RATE_LIMIT_PER_MINUTE: '20',
            DRAIN_MS: '200',
            AUTH_JWKS: jwks,
            AUTH_ISSUER: keys.issuer,
            SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
            AUTH_AUDIENCE: keys.audience,
          },
        }),
      ),
    );

  const url = `http://127.0.0.1:${await freePort()}`;
  const config = renderConfig({
    listen: url.replace('http://', ''),
    upstreams: { 'quest-service': replicas.map(({ port }) => `127.0.0.1:${port}`) },
    trustedProxies: ['127.0.0.1'],
    secretFile: join(home, 'gateway-secret.conf'),
    telemetry: `127.0.0.1:${await freePort()}`,
  });
  for (const [name, text] of Object.entries(config)) writeFileSync(join(home, name), text);
  const script = join(home, 'entrypoint.sh');
  const entrypoint = readFileSync(join(root, 'infra/deploy/gateway/entrypoint.sh'), 'utf8')
    .replaceAll('/etc/gateway', home)
    .replaceAll('/tmp/nginx', home)
    .replace('exec nginx', `exec ${inject('nginxPath')}`);
  writeFileSync(script, entrypoint);
  const env = { GATEWAY_SECRET_FILE: secretFile };
  stack.use(await runNginx(inject('nginxPath') && 'sh', [script], url, undefined, env));

  let running = true;
  const statuses = new Map<number, number>();
  const client = async (network: number): Promise<void> => {
    for (let count = 0; running; count++) {
      const address = `10.${network}.${(count >> 8) & 255}.${count & 255}`;
      const status = await statusFor(
        `${url}/v1/quests/0199ffff-0000-7000-8000-000000000000/questions`,
        address,
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const clients = [1, 2, 3].map(client);
  const waitForMore = async (): Promise<void> => {
    const before = statuses.get(404) ?? 0;
    await expect.poll(() => statuses.get(404)).toBeGreaterThan(before + 100);
  };
  const restartServices = async (): Promise<void> => {
    for (const replica of replicas) {
      await replica.stop();
      await replica.start();
    }
  };

  await waitForMore();
  runStep('add');
  await restartServices();
  await waitForMore();
  runStep('use');
  const { status, stderr } = spawnSync('sh', [script, '-s', 'reload'], {
    env: { ...inherited, ...env },
    encoding: 'utf8',
  });
  expect([status, stderr]).toMatchObject([0, expect.not.stringContaining('[emerg]')]);
  await waitForMore();
  runStep('retire');
  await restartServices();
  await waitForMore();
  running = false;
  await Promise.all(clients);
  expect([...statuses.keys()]).toEqual([404]);
  const secret = readFileSync(secretFile, 'utf8');
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(secret).not.toBe('a'.repeat(64));
  expect(readFileSync(join(home, 'gateway-secret.conf'), 'utf8')).toContain(`"${secret}"`);
  expect(statSync(secretFile).mode & 0o777).toBe(0o444);
});
