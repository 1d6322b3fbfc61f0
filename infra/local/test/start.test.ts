import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createCertificate } from '@platform/gateway/testing';
import { decodeJwt } from 'jose';
import { createTransport } from 'nodemailer';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { exists, type Stack } from '../src/local-folder.ts';
import { identify, isRunning, signal } from '../src/process.ts';
import { freePort } from '../src/testing/free-ports.ts';
import { redisAnswers } from '../src/redis.ts';
import { run as runProgram } from '../src/spawn.ts';
import { newLocalFolder, removeFolder, startStack, type TestStack } from './stack.ts';
import { platformPorts } from '../src/testing/platform.ts';

const anyPid = expect.any(Number) as number;
let platform: TestStack;
let certificate: Awaited<ReturnType<typeof createCertificate>>;
let tlsPort: string;
let metricsPort: string;
let local: string;
let ports: Record<string, string>;

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((networkInterface) => networkInterface?.address === '::1');

/** Secret that the gateway and the services share. */
const gatewaySecret = async (): Promise<string> => {
  const secrets = JSON.parse(await readFile(join(local, 'secrets.json'), 'utf8')) as Record<string, string>;
  return secrets['gateway'] ?? '';
};

const getJson = async (service: string, path: string): Promise<unknown> => {
  const { services } = await platform.stack();
  return (await fetch(`${services[service]?.url}${path}`)).json();
};

/** Process ids of a stack by program name. */
const pids = ({ services, postgres: database, redis, nginx }: Stack): Record<string, number | null> => ({
  postgres: database.pid,
  redis: redis?.pid ?? null,
  nginx: nginx?.pid ?? null,
  ...Object.fromEntries(Object.entries(services).map(([name, { pid }]) => [name, pid])),
});

const waitUntilStopped = async (stack: Stack): Promise<void> => {
  const running = () => Object.entries(pids(stack)).filter(([, pid]) => pid && isRunning(identify(pid)));
  await expect.poll(running).toEqual([]);
};

beforeAll(async () => {
  [local, ports] = await Promise.all([newLocalFolder(), platformPorts()]);
  certificate = await createCertificate();
  tlsPort = String(await freePort());
  metricsPort = String(await freePort());
  platform = startStack(local, {
    ...ports,
    BETA_COUNTER_COLOUR: 'green',
    BETA_COUNTER_PEER_URL: 'https://peer.example.test',
    ...(hasIpv6 && { GATEWAY_IPV6: '1' }),
    GATEWAY_TLS_CERTIFICATE: certificate.files.certificate,
    GATEWAY_TLS_KEY: certificate.files.key,
    GATEWAY_TLS_PORT: tlsPort,
    GATEWAY_METRICS_PORT: metricsPort,
    LOG_MAX_SIZE: '50k',
    LOG_MAX_FILES: '4',
  });
  await platform.ready();
});

afterAll(async () => {
  platform.signal('SIGTERM');
  await platform.ended;
  await removeFolder(local);
  await certificate[Symbol.asyncDispose]();
});

test('stack.json describes the running stack, and only its owner may read it', async () => {
  const base = Number(ports['PORT_BASE']);
  const service = (name: string, port: number) => ({
    url: `http://127.0.0.1:${base + port}`,
    pid: anyPid,
    databaseUrl: expect.stringMatching(
      `^postgres://${name}:[0-9a-f]{64}@127.0.0.1:${base + 32}/${name}$`,
    ) as string,
  });
  const redisUrl = expect.stringMatching(`^redis://:[0-9a-f]{64}@127.0.0.1:${base + 79}$`) as string;
  expect(await platform.stack()).toEqual({
    gateway: inject('nginxPath') && `http://127.0.0.1:${ports['GATEWAY_PORT']}`,
    services: { 'alpha-notes': service('alpha_notes', 1), 'beta-counter': service('beta_counter', 2) },
    postgres: {
      url: expect.stringContaining('postgres://postgres:') as string,
      pid: anyPid,
      dataDir: expect.stringContaining('postgres') as string,
    },
    redis: inject('redisUrl') && { url: redisUrl, pid: anyPid },
    nginx: inject('nginxPath') && { pid: anyPid },
    demo: {
      adminToken: expect.any(String) as string,
      approverToken: expect.any(String) as string,
      consignmentsToken: expect.any(String) as string,
      'alpha-notes': '1000',
      'beta-counter': '1000',
    },
  });
  expect((await stat(join(local, 'stack.json'))).mode & 0o777).toBe(0o600);
});

test('a service gets the address of its stand-in unless another address is set, and the stand-in gets that of the service', async () => {
  const alpha = (await getJson('alpha-notes', '/')) as Record<string, string>;
  const port = Number(ports['PORT_BASE']) + 85;
  expect(alpha).toMatchObject({ PEER_URL: `http://127.0.0.1:${port}`, PEER_ID: 'us' });
  const peer = (await (await fetch(String(alpha['PEER_URL']))).json()) as { env: object };
  expect(peer).toMatchObject({
    args: ['play', '--port', String(port)],
    env: { NOTES_URL: alpha['PUBLIC_URL'], SECRET_PEPPER: alpha['SECRET_PEPPER'] },
  });
  expect(peer.env).not.toHaveProperty('DATABASE_URL');
  expect(peer.env).not.toHaveProperty('SIGNING_KEY');
  expect(await getJson('beta-counter', '/')).toMatchObject({ PEER_URL: 'https://peer.example.test' });
  expect(await readdir(join(local, 'logs'))).not.toContain('other-peer.log');
});

test('the admin token has every scope of every service; the consignments token has only its scope', async () => {
  const { demo } = await platform.stack();
  const scopes = 'alpha-notes:read alpha-notes:write beta-counter:read beta-counter:write mailbox';
  expect(decodeJwt(String(demo['adminToken']))).toMatchObject({
    scope: scopes,
    iss: 'platform-local',
    aud: 'platform',
  });
  expect(decodeJwt(String(demo['consignmentsToken']))['scope']).toBe('consignments:read');
});

test('a service gets its environment, secrets, folders and prefixed variables, but not the database role of the owner', async () => {
  const [alpha, beta] = [await getJson('alpha-notes', '/'), await getJson('beta-counter', '/')];
  expect(alpha).toMatchObject({
    HOST: '127.0.0.1',
    AUTH_JWKS: join(local, 'keys/jwks.json'),
    AUTH_ISSUER: 'platform-local',
    AUTH_AUDIENCE: 'platform',
    TRUST_PROXY: '127.0.0.1',
    GATEWAY_SECRET: await gatewaySecret(),
    SECRET_PEPPER: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    SIGNING_KEY: expect.stringContaining('"crv":"Ed25519"') as string,
    ATTIC_DIR: join(local, 'folders/alpha-notes/ATTIC_DIR'),
  });
  expect((await stat(join(local, 'folders/alpha-notes/ATTIC_DIR'))).isDirectory()).toBe(true);
  const { gateway, services } = await platform.stack();
  expect(alpha).toHaveProperty('PUBLIC_URL', gateway ?? services['alpha-notes']?.url);
  const notes = gateway === null ? undefined : `${gateway}/account/notes/`;
  expect((alpha as { APP_NOTES_URL?: string }).APP_NOTES_URL).toBe(notes);
  expect(alpha).not.toHaveProperty('MIGRATION_DATABASE_URL');
  expect(alpha).not.toHaveProperty('COLOUR');
  expect(beta).toHaveProperty('COLOUR', 'green');
});

test.each(['postgres', 'template1', 'beta_counter'])(
  'the role of a service cannot connect to the database %s',
  async (name) => {
    const { services } = await platform.stack();
    const url = new URL(services['alpha-notes']?.databaseUrl ?? '');
    url.pathname = `/${name}`;
    const sql = postgres(url.href, { max: 1 });
    await expect(sql`select 1`).rejects.toMatchObject({ code: '42501' });
    await sql.end();
  },
);

test('the tables of a service are migrated and contain demo data, and the service may not change them', async () => {
  expect(await getJson('alpha-notes', '/notes')).toEqual([{ text: 'demo' }]);
  expect(await getJson('alpha-notes', '/drop')).toEqual({ error: 'must be owner of table notes' });
});

test('a service that sends mail gets the mail server of the stack, and only a token with the mailbox scope can read the mails', async () => {
  const [alpha, beta] = [await getJson('alpha-notes', '/'), await getJson('beta-counter', '/')];
  expect(beta).not.toHaveProperty('SMTP_URL');
  const transport = createTransport((alpha as { SMTP_URL: string }).SMTP_URL);
  const to = 'ada@example.test';
  await transport.sendMail({
    from: 'no-reply@localhost',
    to,
    subject: 'Grüße',
    text: 'Hello',
    html: '<b>x</b>',
  });
  const { gateway, demo } = await platform.stack();
  if (gateway === null) return;
  const read = (token: unknown) =>
    fetch(`${gateway}/docs/ops/mails`, { headers: { Authorization: `Bearer ${String(token)}` } });
  expect(await (await read(demo['adminToken'])).json()).toMatchObject({
    mails: [{ to, subject: 'Grüße', text: expect.stringMatching(/^Hello\s*$/) as string }],
  });
  expect((await read(demo['consignmentsToken'])).status).toBe(403);
});

test.runIf(inject('nginxPath')).each(['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])(
  'the gateway accepts TLS with the configured certificate at %s',
  async (address) => {
    const url = `https://${address}:${tlsPort}/healthz`;
    const [response] = (await once(
      get(url, { ca: certificate.ca, servername: 'gateway.test' }),
      'response',
    )) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  },
);

test.runIf(inject('nginxPath'))('the gateway counts its requests', async () => {
  const { gateway } = await platform.stack();
  await fetch(`${gateway}/v1/quests`);
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  await expect.poll(metrics).toContain('gateway_requests_total{upstream="quest-service",route="/v1/quests"');
});

test.runIf(inject('nginxPath'))('the gateway answers', async () => {
  expect((await fetch(`http://127.0.0.1:${ports['GATEWAY_PORT']}/healthz`)).status).toBe(200);
});

test.runIf(inject('nginxPath'))(
  'the log of the gateway is rotated while requests arrive, and no line is lost',
  async () => {
    const { gateway } = await platform.stack();
    const folder = join(local, 'logs/gateway');
    const log = (age: number): string => join(folder, age === 0 ? 'access.log' : `access.log.${age}`);
    let sent = 0;
    const send = async (): Promise<void> => {
      const headers = { 'X-Request-Id': `rotated-${sent++}-` };
      await (await fetch(`${gateway}/nowhere`, { headers })).arrayBuffer();
    };
    while (!(await exists(log(3)))) await Promise.all(Array.from({ length: 20 }, send));
    const read = async (): Promise<Set<string>> => {
      const texts = await Promise.all([3, 2, 1, 0].map((age) => readFile(log(age), 'utf8').catch(() => '')));
      return new Set(texts.join('').match(/rotated-\d+-/g));
    };
    await expect.poll(async () => (await read()).size).toBe(sent);
    expect((await readdir(folder)).filter((name) => name.startsWith('access.log'))).toHaveLength(4);
  },
);

test.runIf(inject('nginxPath'))(
  'the portal is served, and the printed code returns the demo credentials once; then a new code is printed',
  async () => {
    const gateway = `http://127.0.0.1:${ports['GATEWAY_PORT']}`;
    const codes = () => [...platform.printed().matchAll(/\/docs\/#code=([\w-]+)/g)].map(([, code]) => code);
    const exchange = (code?: string) =>
      fetch(`${gateway}/docs/demo`, { method: 'POST', body: JSON.stringify({ code }) });
    expect(await (await fetch(`${gateway}/docs/`)).text()).toContain('<title>Platform</title>');
    expect(codes()).toHaveLength(1);
    const [code] = codes();
    const credentials = (await (await exchange(code)).json()) as Record<string, unknown>;
    expect(credentials['accessToken']).toBe((await platform.stack()).demo['adminToken']);
    expect((await exchange(code)).status).toBe(403);
    await expect.poll(codes).toHaveLength(2);
    expect((await exchange(codes()[1])).status).toBe(200);
  },
);

test('only their owner can read the secrets that start writes', async () => {
  const { demo, redis } = await platform.stack();
  const secret = await gatewaySecret();
  const exposedFiles: string[] = [];
  for (const file of await readdir(local, { recursive: true })) {
    const info = await stat(join(local, file)).catch(() => undefined);
    if (!info?.isFile() || (info.mode & 0o044) === 0) continue;
    const text = await readFile(join(local, file), 'utf8');
    const secrets = [demo['adminToken'] as string, secret, new URL(redis?.url ?? 'redis://:none@a').password];
    if (secrets.some((secretText) => text.includes(secretText))) exposedFiles.push(file);
  }
  expect(exposedFiles).toEqual([]);
});

test.runIf(inject('redisUrl'))('Redis refuses clients without its password', async () => {
  const { redis } = await platform.stack();
  const url = new URL(redis?.url ?? '');
  expect(url.password).toMatch(/^[0-9a-f]{64}$/);
  expect(await redisAnswers(url.href)).toBe(true);
  for (const password of ['', 'guess']) {
    url.password = password;
    expect(await redisAnswers(url.href)).toBe(false);
  }
  const { stdout } = await runProgram('ps', ['-eo', 'args']);
  expect(stdout).not.toContain(new URL(redis?.url ?? '').password);
});

test('the printed summary contains the addresses and commands of the services, but no complete token and no password', async () => {
  const { demo, services, postgres: database } = await platform.stack();
  const printed = platform.printed();
  expect(printed).toContain(services['alpha-notes']?.url);
  expect(printed).toContain('# A note of alpha-notes');
  expect(printed).not.toContain(String(demo['adminToken']));
  expect(printed).not.toContain(new URL(database.url).password);
});

const killedPrograms = [
  'alpha-notes',
  'postgres',
  ...(inject('redisUrl') ? ['redis'] : []),
  ...(inject('nginxPath') ? ['nginx'] : []),
];
test.each(killedPrograms)('%s is restarted after kill -9, and stack.json is updated', async (name) => {
  const before = pids(await platform.stack())[name];
  signal(before ?? 0, 'SIGKILL');
  await expect.poll(async () => pids(await platform.stack())[name]).not.toBeOneOf([before, null]);
  await expect.poll(() => getJson('alpha-notes', '/notes')).toEqual([{ text: 'demo' }]);
});

test('a second start in the same folder is rejected and the first keeps running', async () => {
  const second = startStack(local, await platformPorts());
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.printed()).toContain(`already running here (process ${platform.pid})`);
  expect(await getJson('alpha-notes', '/readyz')).toEqual([{ ok: 1 }]);
});

test('a taken port is reported, and no program of that start keeps running', async () => {
  const other = await newLocalFolder();
  const start = startStack(other, { ...(await platformPorts()), PORT_BASE: ports['PORT_BASE'] ?? '' });
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain(`port ${Number(ports['PORT_BASE']) + 32} for PostgreSQL is taken`);
  expect(await exists(join(other, 'processes.json'))).toBe(false);
  await removeFolder(other);
});

test('after kill -9 of start its programs stop, and the next start uses the same data', async () => {
  const stack = await platform.stack();
  const added = await getJson('alpha-notes', '/add');
  platform.signal('SIGKILL');
  await platform.ended;
  await waitUntilStopped(stack);
  platform = startStack(local, ports);
  await platform.ready();
  expect(await getJson('alpha-notes', '/add')).not.toEqual(added);
  const sql = postgres((await platform.stack()).services['alpha-notes']?.databaseUrl ?? '', { max: 1 });
  const [row] = await sql`select count(*)::int as notes from notes where id < 1000`;
  expect(row).toEqual({ notes: 2 });
  await sql.end();
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s stops everything, removes stack.json and exits with code 0',
  async (name) => {
    const stack = await platform.stack();
    platform.signal(name);
    expect(await platform.ended).toEqual({ code: 0, signal: null });
    await waitUntilStopped(stack);
    expect(await exists(join(local, 'stack.json'))).toBe(false);
    platform = startStack(local, ports);
    await platform.ready();
  },
);

test('start uses the database and Redis of DATABASE_URL and REDIS_URL instead of its own', async () => {
  const other = await newLocalFolder();
  const settings = { DATABASE_URL: inject('postgresUrl'), REDIS_URL: 'redis://127.0.0.1:1' };
  const start = startStack(other, { ...(await platformPorts()), ...settings });
  await start.ready();
  const { postgres: database, redis, services } = await start.stack();
  expect(database).toEqual({ url: settings.DATABASE_URL, pid: null, dataDir: null });
  expect(redis).toEqual({ url: settings.REDIS_URL, pid: null });
  expect(services['alpha-notes']?.databaseUrl).toContain(new URL(settings.DATABASE_URL).host);
  start.signal('SIGTERM');
  await start.ended;
  await removeFolder(other);
});
