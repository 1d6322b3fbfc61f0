import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfig } from '@platform/gateway/config';
import { imageOptions } from '@platform/gateway/options';
import { freePort } from '@platform/local/ports';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { inherited } from './env.ts';
import { runNginx } from './gateway.ts';
import { prepare, services, values } from './deployment.ts';
import { root } from './service.ts';

const stack = new AsyncDisposableStack();
const newFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), name));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o777);
  return folder;
};
const gatewaySecret = 'g'.repeat(43);
const received: IncomingHttpHeaders[] = [];
let consignmentsAddress: string;
beforeAll(async () => {
  const consignments = createServer(({ headers }, response) => {
    received.push(headers);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(consignments, 'listening');
  stack.defer(() => void consignments.close());
  consignmentsAddress = `127.0.0.1:${(consignments.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());

/** Runs prepare-compose and returns the files of the gateway by name. */
const prepareGatewayFiles = (
  args: string[] = [],
  env: Record<string, string> = {},
): Record<string, string> => {
  const folder = join(prepare(newFolder('prepared-'), args, env), 'gateway');
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
};
const names = services.map(({ name }) => name);
const shipped: [string, Record<string, string>][] = [
  [
    'the chart',
    renderConfig(imageOptions({ services: names, domain: 'platform.svc.cluster.local', ...values.nginx })),
  ],
  ['compose', prepareGatewayFiles()],
  ['compose with one service', prepareGatewayFiles([], { SERVICES: 'consignments' })],
];

/** Writes a shipped configuration and the entrypoint with addresses and folders of this machine instead of those of the image. */
const adaptToMachine = async (config: Record<string, string>) => {
  const [home, port, inner] = [newFolder('gateway-run-'), await freePort(), await freePort()];
  const closedPort = `127.0.0.1:${await freePort()}`;
  const changes: [string, string][] = [
    ['listen *:8080 ', `listen 127.0.0.1:${port} `],
    ['8082', String(inner)],
    [`listen *:${inner} `, `listen 127.0.0.1:${inner} `],
    ['"/tmp/nginx/', `"${home}/`],
    ['"/usr/share/portal/', `"${home}/`],
    ['gateway-telemetry:9145', `127.0.0.1:${await freePort()}`],
    ['.platform.svc.cluster.local', ''],
    // The nginx of this machine may be too old for `resolve`.
    ...names.map((name): [string, string] => [
      `${name}:8080 resolve`,
      name === 'consignments' ? consignmentsAddress : closedPort,
    ]),
  ];
  for (const [name, text] of Object.entries(config))
    writeFileSync(
      join(home, name),
      changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
    );
  const script = readFileSync(join(root, 'infra/deploy/gateway/entrypoint.sh'), 'utf8')
    .replaceAll('/etc/gateway', home)
    .replaceAll('/tmp/nginx', home)
    .replace('exec nginx', `exec ${inject('nginxPath')}`);
  writeFileSync(join(home, 'entrypoint.sh'), script);
  writeFileSync(join(home, 'secret'), `${gatewaySecret}\n`);
  writeFileSync(join(home, 'index.html'), 'the portal');
  return { home, script: join(home, 'entrypoint.sh'), url: `http://127.0.0.1:${port}`, inner };
};

describe.each(shipped)(
  'the configuration for %s, with the entrypoint of the gateway',
  (_deployment, config) => {
    test('is accepted by nginx, serves the portal, and sends the gateway secret to the services', async () => {
      const { home, script, url, inner } = await adaptToMachine(config);
      // The user id of the image.
      const user = process.getuid?.() === 0 ? 101 : undefined;
      const env = { GATEWAY_SECRET_FILE: join(home, 'secret') };
      await using gateway = await runNginx(inject('nginxPath') && 'sh', [script], url, user, env);
      expect((await fetch(`${gateway.url}/docs/`)).status).toBe(404);
      const page = await fetch(`http://127.0.0.1:${inner}/docs/`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await page.text()).toBe('the portal');
      expect((await fetch(`${gateway.url}/docs/demo`, { method: 'POST' })).status).toBe(404);
      await fetch(`${gateway.url}/v1/consignments`, { headers: { 'X-Gateway-Secret': 'forged' } });
      expect(received.splice(0)).toMatchObject([{ 'x-gateway-secret': gatewaySecret }]);
      // The other services do not run: 503 if they are deployed, otherwise 404.
      const isDeployed = config['upstreams.conf']?.includes('upstream quest-service ');
      expect((await fetch(`${gateway.url}/v1/quests`)).status).toBe(isDeployed ? 503 : 404);
    });
  },
);

test.each(['', 'with "quotes"', 'a;b', 'two\nlines'])(
  'the entrypoint of the gateway rejects the secret %j',
  async (secret) => {
    const { home, script } = await adaptToMachine(prepareGatewayFiles());
    writeFileSync(join(home, 'secret'), secret);
    const { status, stderr } = spawnSync('sh', [script], {
      env: { ...inherited, GATEWAY_SECRET_FILE: join(home, 'secret') },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('the secret must consist of')]);
  },
);
