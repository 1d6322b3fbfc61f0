import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@platform/local/ports';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { folders } from '../src/kubernetes/folders.ts';
import { readPlatform, readServices } from '../src/values.ts';
import { startCollector } from './collector.ts';
import { runNginx } from './gateway.ts';
import { inherited } from './env.ts';
import { buildImage, startProgram } from './image/image.ts';
import { prepare } from './prepare.ts';
import { keys, startService } from './service.ts';

const stack = new AsyncDisposableStack();
const newFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), name));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const gatewaySecret = 'g'.repeat(43);
const work = newFolder('gateway-image-');
const services = readServices();
const places: Record<string, string> = {};
const received: IncomingHttpHeaders[] = [];
let image: Awaited<ReturnType<typeof buildImage>>;
let telemetry: Awaited<ReturnType<typeof buildImage>>;

beforeAll(async () => {
  const telemetryArguments = {
    SERVICE: '@platform/gateway-telemetry',
    FOLDER: 'infra/gateway-telemetry',
    TITLE: 'gateway-telemetry',
    PROBE_PORT: '',
  };
  [image, telemetry] = await Promise.all([
    buildImage(work, { SERVICE: '@platform/portal' }, 'gateway'),
    buildImage(newFolder('telemetry-image-'), telemetryArguments),
    ...['task-manager', 'quest-service'].map(async (name) => {
      places[name] = stack.use(await startService(name)).place;
    }),
  ]);
  const consignments = createServer(({ headers }, response) => {
    received.push(headers);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(consignments, 'listening');
  stack.defer(() => void consignments.close());
  places['consignments'] = `127.0.0.1:${(consignments.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());

const platform = readPlatform();
const manifests = Object.values(folders(services, platform)['services'] ?? {}).flat();
const mounted = manifests.find(({ kind }) => kind === 'ConfigMap') as unknown as {
  data: Record<string, string>;
};
/** What prepare-compose writes. */
const prepared = (...args: string[]): Record<string, string> => {
  const folder = join(prepare(newFolder('prepared-'), ...args), 'gateway');
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
};
const shipped = [
  ['Kubernetes', mounted.data],
  ['compose', prepared()],
  ['compose with telemetry', prepared('--telemetry')],
] as const;

/** What is shipped, with the addresses and folders of this machine for those of the image; all else as it is. */
const moved = async (config: Record<string, string>, telemetry = '127.0.0.1:9145') => {
  const [home, port] = [newFolder('gateway-run-'), await freePort()];
  chmodSync(home, 0o777);
  const nowhere = `127.0.0.1:${await freePort()}`;
  const changes: [string, string][] = [
    ['listen *:8080 ', `listen 127.0.0.1:${port} `],
    ['"/tmp/nginx/', `"${home}/`],
    ['"/usr/share/portal/', `"${image.root}/usr/share/portal/`],
    ...services.map(({ name }): [string, string] => [`${name}:8080`, places[name] ?? nowhere]),
  ];
  for (const [from] of changes) expect(Object.values(config).join('\n')).toContain(from);
  for (const [name, text] of Object.entries(config)) {
    const changed = changes.reduce((all, [from, to]) => all.replaceAll(from, to), text);
    writeFileSync(
      join(home, name),
      changed.replace('syslog:server=127.0.0.1:9145', `syslog:server=${telemetry}`),
    );
  }
  const [program, entrypoint = ''] = image.command;
  expect(program).toBe('sh');
  const script = readFileSync(join(image.root, entrypoint), 'utf8')
    .replaceAll('/etc/gateway', home)
    .replaceAll('/tmp/nginx', home)
    .replace('exec nginx', `exec ${inject('nginxPath')}`);
  writeFileSync(join(home, 'entrypoint.sh'), script);
  writeFileSync(join(home, 'secret'), `${gatewaySecret}\n`);
  return { home, script: join(home, 'entrypoint.sh'), url: `http://127.0.0.1:${port}` };
};

/** Starts the gateway of the image with a configuration, as the user of the image where we may choose. */
const run = async (config: Record<string, string>, telemetry?: string) => {
  const { home, script, url } = await moved(config, telemetry);
  const user = process.getuid?.() === 0 ? image.user : undefined;
  const env = { GATEWAY_SECRET_FILE: join(home, 'secret') };
  return runNginx(inject('nginxPath') && 'sh', [script], url, user, env);
};

describe.each(shipped)('the configuration for %s, in an image of the gateway', (_where, config) => {
  test('is accepted by nginx, and serves the portal, its guides, its documents and the operations page', async () => {
    await using gateway = await run(config);
    for (const [page, title] of [
      ['/docs/', 'Platform'],
      ['/docs/guides/', 'Guides · Platform'],
      ['/docs/reference/', 'Reference · Platform'],
      ['/docs/ops/', 'Operations · Platform'],
    ] as const) {
      const answer = await fetch(`${gateway.url}${page}`);
      const text = await answer.text();
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).toContain(`<title>${title}</title>`);
      for (const [, asset] of text.matchAll(/(?:src|href)="(\/docs\/[^"]+\.\w+)"/g))
        expect([asset, (await fetch(`${gateway.url}${asset}`)).status]).toEqual([asset, 200]);
    }
    const { info } = (await (await fetch(`${gateway.url}/openapi/quest-service.json`)).json()) as {
      info: object;
    };
    expect(info).toMatchObject({ title: expect.any(String) });
    expect((await fetch(`${gateway.url}/docs/demo`, { method: 'POST' })).status).toBe(404);
  });

  test('sends the services the secret of the container, not one that a client sends', async () => {
    await using gateway = await run(config);
    await fetch(`${gateway.url}/v1/consignments`, { headers: { 'X-Gateway-Secret': 'forged' } });
    expect(received.splice(0)).toMatchObject([{ 'x-gateway-secret': gatewaySecret }]);
  });

  test('routes the operations page to every service, also to the one that signs its own tokens', async () => {
    await using gateway = await run(config);
    const headers = { Authorization: `Bearer ${await keys.token({ scope: 'ops:read' })}` };
    for (const name of ['task-manager', 'quest-service']) {
      expect((await fetch(`${gateway.url}/docs/status/${name}`)).status).toBe(200);
      expect((await fetch(`${gateway.url}/docs/ops/summary/${name}`)).status).toBe(401);
      expect((await fetch(`${gateway.url}/docs/ops/summary/${name}`, { headers })).status).toBe(200);
    }
  });
});

test('the spans and metrics of the gateway come from the image gateway-telemetry', async () => {
  await using collector = await startCollector();
  const receiver = await startProgram(
    telemetry.program(telemetry.command, { HOST: '127.0.0.1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
  );
  stack.defer(async () => void (await receiver.stop()));
  const [, , [, config]] = shipped;
  await using gateway = await run(config, `127.0.0.1:${receiver.port}`);
  const trace = 'b'.repeat(32);
  await fetch(`${gateway.url}/openapi/quest-service.json`, {
    headers: { traceparent: `00-${trace}-${'c'.repeat(16)}-01` },
  });
  expect(telemetry.labels['org.opencontainers.image.title']).toBe('gateway-telemetry');
  const [span] = await collector.trace(trace, 'GET quest-service');
  expect([span?.service, span?.parentSpanId]).toEqual(['gateway', 'c'.repeat(16)]);
  const metrics = await (await fetch(`http://127.0.0.1:${receiver.port}/metrics`)).text();
  expect(metrics).toContain(
    'gateway_requests_total{upstream="quest-service",route="/openapi/quest-service.json",status="200",answered_by="service"} 1',
  );
});

test.each(['', 'with "quotes"', 'a;b', 'two\nlines'])('the image rejects the secret %j', async (secret) => {
  const { home, script } = await moved(shipped[1][1]);
  writeFileSync(join(home, 'secret'), secret);
  const { status, stderr } = spawnSync('sh', [script], {
    env: { ...inherited, GATEWAY_SECRET_FILE: join(home, 'secret') },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('the secret must consist of')]);
});

test('the image holds the pages, may be read by nginx, and has no credential', () => {
  const pages = join(image.root, 'usr/share/portal');
  expect(readFileSync(join(pages, 'index.html'), 'utf8')).toContain('data-service="consignments"');
  expect(existsSync(join(pages, 'demo.json'))).toBe(false);
});
