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
import { newLocalFolder, removeFolder, startStack, type StackRun } from './stack.ts';
import { platformPorts } from '../src/testing/platform.ts';

const aPid = expect.any(Number) as number;
let run: StackRun;
let certificate: Awaited<ReturnType<typeof createCertificate>>;
let tlsPort: string;
let metricsPort: string;
let local: string;
let ports: Record<string, string>;

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1');

/** Secret that the gateway and the services share. */
const gatewaySecret = async (): Promise<string> => {
  const secrets = JSON.parse(await readFile(join(local, 'secrets.json'), 'utf8')) as Record<string, string>;
  return secrets['gateway'] ?? '';
};

const ask = async (service: string, path: string): Promise<unknown> => {
  const { services } = await run.stack();
  return (await fetch(`${services[service]?.url}${path}`)).json();
};

/** Every process of a stack by its name. */
const pids = ({ services, postgres: database, redis, nginx }: Stack): Record<string, number | null> => ({
  postgres: database.pid,
  redis: redis?.pid ?? null,
  nginx: nginx?.pid ?? null,
  ...Object.fromEntries(Object.entries(services).map(([name, { pid }]) => [name, pid])),
});

const allGone = async (stack: Stack): Promise<void> => {
  const left = () => Object.entries(pids(stack)).filter(([, pid]) => pid && isRunning(identify(pid)));
  await expect.poll(left).toEqual([]);
};

beforeAll(async () => {
  [local, ports] = await Promise.all([newLocalFolder(), platformPorts()]);
  certificate = await createCertificate();
  tlsPort = String(await freePort());
  metricsPort = String(await freePort());
  run = startStack(local, {
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
  await run.ready();
});

afterAll(async () => {
  run.signal('SIGTERM');
  await run.ended;
  await removeFolder(local);
  await certificate[Symbol.asyncDispose]();
});

test('stack.json describes the running stack, and only its owner may read it', async () => {
  const base = Number(ports['PORT_BASE']);
  const service = (name: string, port: number) => ({
    url: `http://127.0.0.1:${base + port}`,
    pid: aPid,
    databaseUrl: expect.stringMatching(
      `^postgres://${name}:[0-9a-f]{64}@127.0.0.1:${base + 32}/${name}$`,
    ) as string,
  });
  const redisUrl = expect.stringMatching(`^redis://:[0-9a-f]{64}@127.0.0.1:${base + 79}$`) as string;
  expect(await run.stack()).toEqual({
    gateway: inject('nginxPath') && `http://127.0.0.1:${ports['GATEWAY_PORT']}`,
    services: { 'alpha-notes': service('alpha_notes', 1), 'beta-counter': service('beta_counter', 2) },
    postgres: {
      url: expect.stringContaining('postgres://postgres:') as string,
      pid: aPid,
      dataDir: expect.stringContaining('postgres') as string,
    },
    redis: inject('redisUrl') && { url: redisUrl, pid: aPid },
    nginx: inject('nginxPath') && { pid: aPid },
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

test('a service gets the address of its stand-in, which knows the service, unless another address is set', async () => {
  const alpha = (await ask('alpha-notes', '/')) as Record<string, string>;
  const port = Number(ports['PORT_BASE']) + 85;
  expect(alpha).toMatchObject({ PEER_URL: `http://127.0.0.1:${port}`, PEER_ID: 'us' });
  const peer = (await (await fetch(String(alpha['PEER_URL']))).json()) as { env: object };
  expect(peer).toMatchObject({
    args: ['play', '--port', String(port)],
    env: { NOTES_URL: alpha['PUBLIC_URL'], SECRET_PEPPER: alpha['SECRET_PEPPER'] },
  });
  expect(peer.env).not.toHaveProperty('DATABASE_URL');
  expect(peer.env).not.toHaveProperty('SIGNING_KEY');
  expect(await ask('beta-counter', '/')).toMatchObject({ PEER_URL: 'https://peer.example.test' });
  expect(await readdir(join(local, 'logs'))).not.toContain('other-peer.log');
});

test('the admin token holds every scope of every service, the other one its single scope', async () => {
  const { demo } = await run.stack();
  const scopes = 'alpha-notes:read alpha-notes:write beta-counter:read beta-counter:write mailbox';
  expect(decodeJwt(String(demo['adminToken']))).toMatchObject({
    scope: scopes,
    iss: 'platform-local',
    aud: 'platform',
  });
  expect(decodeJwt(String(demo['consignmentsToken']))['scope']).toBe('consignments:read');
});

test("a service gets its environment, its secrets and folders and its prefixed variables, but not the owner's database role", async () => {
  const [alpha, beta] = [await ask('alpha-notes', '/'), await ask('beta-counter', '/')];
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
  const { gateway, services } = await run.stack();
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
    const { services } = await run.stack();
    const url = new URL(services['alpha-notes']?.databaseUrl ?? '');
    url.pathname = `/${name}`;
    const sql = postgres(url.href, { max: 1 });
    await expect(sql`select 1`).rejects.toMatchObject({ code: '42501' });
    await sql.end();
  },
);

test("the service's tables are migrated and filled, and it may not change them", async () => {
  expect(await ask('alpha-notes', '/notes')).toEqual([{ text: 'demo' }]);
  expect(await ask('alpha-notes', '/drop')).toEqual({ error: 'must be owner of table notes' });
});

test('a service that sends mail has the mail server of the stack, which only a token with the scope reads', async () => {
  const [alpha, beta] = [await ask('alpha-notes', '/'), await ask('beta-counter', '/')];
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
  const { gateway, demo } = await run.stack();
  if (gateway === null) return;
  const read = (token: unknown) =>
    fetch(`${gateway}/docs/ops/mails`, { headers: { Authorization: `Bearer ${String(token)}` } });
  expect(await (await read(demo['adminToken'])).json()).toMatchObject({
    mails: [{ to, subject: 'Grüße', text: expect.stringMatching(/^Hello\s*$/) as string }],
  });
  expect((await read(demo['consignmentsToken'])).status).toBe(403);
});

test.runIf(inject('nginxPath')).each(['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])(
  'the gateway accepts TLS with the given certificate at %s',
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
  const { gateway } = await run.stack();
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
    const { gateway } = await run.stack();
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
  'the portal is served, and the printed code returns the credentials of the demo once, then a new code is printed',
  async () => {
    const gateway = `http://127.0.0.1:${ports['GATEWAY_PORT']}`;
    const codes = () => [...run.printed().matchAll(/\/docs\/#code=([\w-]+)/g)].map(([, code]) => code);
    const exchange = (code?: string) =>
      fetch(`${gateway}/docs/demo`, { method: 'POST', body: JSON.stringify({ code }) });
    expect(await (await fetch(`${gateway}/docs/`)).text()).toContain('<title>Platform</title>');
    expect(codes()).toHaveLength(1);
    const [code] = codes();
    const opened = (await (await exchange(code)).json()) as Record<string, unknown>;
    expect(opened['accessToken']).toBe((await run.stack()).demo['adminToken']);
    expect((await exchange(code)).status).toBe(403);
    await expect.poll(codes).toHaveLength(2);
    expect((await exchange(codes()[1])).status).toBe(200);
  },
);

test('only their owner can read the secrets that start writes', async () => {
  const { demo, redis } = await run.stack();
  const secret = await gatewaySecret();
  const open: string[] = [];
  for (const file of await readdir(local, { recursive: true })) {
    const info = await stat(join(local, file)).catch(() => undefined);
    if (!info?.isFile() || (info.mode & 0o044) === 0) continue;
    const text = await readFile(join(local, file), 'utf8');
    const secrets = [demo['adminToken'] as string, secret, new URL(redis?.url ?? 'redis://:none@a').password];
    if (secrets.some((one) => text.includes(one))) open.push(file);
  }
  expect(open).toEqual([]);
});

test.runIf(inject('redisUrl'))('Redis refuses clients without its password', async () => {
  const { redis } = await run.stack();
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

test("what is printed shows addresses and the services' commands, but no whole token and no password", async () => {
  const { demo, services, postgres: database } = await run.stack();
  const shown = run.printed();
  expect(shown).toContain(services['alpha-notes']?.url);
  expect(shown).toContain('# A note of alpha-notes');
  expect(shown).not.toContain(String(demo['adminToken']));
  expect(shown).not.toContain(new URL(database.url).password);
});

const killed = [
  'alpha-notes',
  'postgres',
  ...(inject('redisUrl') ? ['redis'] : []),
  ...(inject('nginxPath') ? ['nginx'] : []),
];
test.each(killed)('%s killed with kill -9 is started again, and stack.json follows', async (name) => {
  const before = pids(await run.stack())[name];
  signal(before ?? 0, 'SIGKILL');
  await expect.poll(async () => pids(await run.stack())[name]).not.toBeOneOf([before, null]);
  await expect.poll(() => ask('alpha-notes', '/notes')).toEqual([{ text: 'demo' }]);
});

test('a second start in the same folder is refused and the first keeps running', async () => {
  const second = startStack(local, await platformPorts());
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.printed()).toContain(`already running here (process ${run.pid})`);
  expect(await ask('alpha-notes', '/readyz')).toEqual([{ ok: 1 }]);
});

test('a taken port is an error that names it, and no program of that start is left', async () => {
  const other = await newLocalFolder();
  const start = startStack(other, { ...(await platformPorts()), PORT_BASE: ports['PORT_BASE'] ?? '' });
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain(`port ${Number(ports['PORT_BASE']) + 32} for PostgreSQL is taken`);
  expect(await exists(join(other, 'processes.json'))).toBe(false);
  await removeFolder(other);
});

test('after kill -9 of start its programs end, and the next start finds the data', async () => {
  const stack = await run.stack();
  const added = await ask('alpha-notes', '/add');
  run.signal('SIGKILL');
  await run.ended;
  await allGone(stack);
  run = startStack(local, ports);
  await run.ready();
  expect(await ask('alpha-notes', '/add')).not.toEqual(added);
  const sql = postgres((await run.stack()).services['alpha-notes']?.databaseUrl ?? '', { max: 1 });
  const [row] = await sql`select count(*)::int as notes from notes where id < 1000`;
  expect(row).toEqual({ notes: 2 });
  await sql.end();
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'on %s it stops everything, removes stack.json and exits with 0',
  async (name) => {
    const stack = await run.stack();
    run.signal(name);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    await allGone(stack);
    expect(await exists(join(local, 'stack.json'))).toBe(false);
    run = startStack(local, ports);
    await run.ready();
  },
);

test('a database and a Redis that were given are used instead of the embedded ones', async () => {
  const other = await newLocalFolder();
  const given = { DATABASE_URL: inject('postgresUrl'), REDIS_URL: 'redis://127.0.0.1:1' };
  const start = startStack(other, { ...(await platformPorts()), ...given });
  await start.ready();
  const { postgres: database, redis, services } = await start.stack();
  expect(database).toEqual({ url: given.DATABASE_URL, pid: null, dataDir: null });
  expect(redis).toEqual({ url: given.REDIS_URL, pid: null });
  expect(services['alpha-notes']?.databaseUrl).toContain(new URL(given.DATABASE_URL).host);
  start.signal('SIGTERM');
  await start.ended;
  await removeFolder(other);
});
