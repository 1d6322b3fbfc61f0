import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATOR_ID, type Access, type Platform } from '@platform/e2e/stack';
import { waitUntilReady } from '@platform/e2e/wait';
import { freePort } from '@platform/local/ports';
import { tagVariable } from '@platform/service-list';
import { stopping } from './command.ts';
import { COMPOSE_FILE, documentedCommands, PROJECT, type Edit } from './documented.ts';
import type { Engine } from './engine.ts';

/** The network in which the containers reach each other. */
export const INNER_NETWORK = `${PROJECT}_inner`;
/** First three numbers of the addresses in the network with outside access. */
const OUTSIDE = '10.89.7';
/** Labels of the images, without the prefix `org.opencontainers.image`. */
const LABELS = {
  version: 'latest',
  revision: 'rehearsed',
  created: '2026-11-22T00:00:00Z',
  source: 'https://git.example.test/platform',
  licenses: 'MIT',
};
const TELEMETRY = 'gateway-telemetry';
/** The step of the crash test in which all containers stop and start. */
const EVERYTHING = 'down and up';

/** The platform in containers. */
export interface Deployment extends Platform, AsyncDisposable {
  /** Address of the portal, which has its own port. */
  portal: string;
  /** Address of Prometheus, when it runs. */
  prometheus: string;
  /** Names of the first version's containers, by their name in compose.yaml. */
  containers: Record<string, string>;
  services: readonly string[];
  /** The folder of prepare-compose. */
  prepared: string;
  /** Labels that the images must have. */
  labels: Record<string, string>;
  /** Runs a `docker compose` command for this project; `tag` replaces the version of the services. */
  compose: (command: string, tag?: string) => Promise<string>;
  /** Returns the first column of a query in a database. */
  query: (database: string, sql: string) => Promise<string[]>;
  /** Sets the version of all services, or of these names, for later commands. */
  useTag: (tag: string, names?: readonly string[]) => void;
  /** Runs the first code block below a heading of a page in docs/. */
  runDocumented: (
    page: string,
    heading: string,
    variables?: Record<string, string>,
    edits?: readonly Edit[],
  ) => Promise<string>;
  /** Waits until the gateway and every service are ready. */
  ready: () => Promise<void>;
}

/** Reads the secrets that prepare-compose created; of a URL only the password, of a key only the private part. */
const preparedSecrets = async (prepared: string): Promise<string[]> => {
  const folder = join(prepared, 'secrets');
  const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(texts)).map((text) => {
    if (text.startsWith('{')) return (JSON.parse(text) as { d: string }).d;
    return text.includes('://') ? new URL(text).password : text.trim();
  });
};

/** Name of an image, without its tag. */
export const imageOf = (name: string): string => `${PROJECT}/${name}`;

/** Finds the running container of a service by labels: docker is much faster than version 1 of compose. */
export const containerOf = async ({ docker }: Engine, name: string): Promise<string> => {
  const labels = [`project=${PROJECT}`, `service=${name}`];
  const filters = labels.map((label) => `--filter=label=com.docker.compose.${label}`);
  return (await docker('ps', ...filters, '--format', '{{.Names}}')).trim();
};

const addressOf = async ({ docker }: Engine, container: string): Promise<string> => {
  const format = `{{(index .NetworkSettings.Networks "${INNER_NETWORK}").IPAddress}}`;
  return (await docker('inspect', '--format', format, container)).trim();
};

/** Occupies an address of the inner network with an idle container; disposal removes it. */
const occupyAddress = async (
  { docker }: Engine,
  image: string,
  address: string,
): Promise<AsyncDisposable> => {
  const idle = [`${image}:latest`, 'node', '-e', 'setInterval(() => {}, 1e6)'];
  const network = ['--network', INNER_NETWORK, '--ip', address];
  const container = (await docker('run', '--rm', '--detach', ...network, ...idle)).trim();
  return { [Symbol.asyncDispose]: async () => void (await docker('kill', container)) };
};

const removeImages = async ({ docker }: Engine): Promise<void> => {
  const images = await docker('images', '--format', '{{.Repository}}:{{.Tag}}', `${PROJECT}/*`);
  if (images !== '') await docker('image', 'rm', ...images.trim().split('\n'));
};

type Compose = Deployment['compose'];

/** Loads the demo data of each service; returns what `start` would write into stack.json. */
const loadDemo = async (
  compose: Compose,
  services: readonly string[],
  { gateway, adminToken }: { gateway: string; adminToken: string },
): Promise<Access> => {
  const demo = { adminToken };
  const settings = `-e GATEWAY_URL=${gateway} -e DEMO_ADMIN_TOKEN=${adminToken}`;
  for (const name of services) {
    const text = await compose(`exec -T ${settings} ${name} node src/demo.ts`);
    Object.assign(demo, (JSON.parse(text) as { demo: object }).demo);
  }
  return { gateway, demo } as Access;
};

/** Deploys the platform with the commands of docs/deploy.md, as a project with its own networks and ports. */
export const deploy = async (engine: Engine, services: readonly string[]): Promise<Deployment> => {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const portalPort = await freePort();
  const prometheusPort = await freePort();
  const gateway = `http://127.0.0.1:${port}`;
  const portal = `http://127.0.0.1:${portalPort}`;
  const gameServer = { host: `${OUTSIDE}.1`, port: await freePort() };
  const { path: folder } = stack.use(await mkdtempDisposable(join(tmpdir(), 'rehearsal-')));
  const prepared = join(folder, 'prepared');
  const variables: Record<string, string> = {
    COMPOSE_PROJECT_NAME: PROJECT,
    COMPOSE_FILE: `${COMPOSE_FILE}:${join(prepared, 'compose.yaml')}`,
    PREPARED: prepared,
    REGISTRY: PROJECT,
    REVISION: LABELS.revision,
    CREATED: LABELS.created,
    SOURCE: LABELS.source,
    GATEWAY_PORT: String(port),
    PORTAL_PORT: String(portalPort),
    PROMETHEUS_PORT: String(prometheusPort),
    ALERTMANAGER_PORT: String(await freePort()),
    PUBLIC_URL: gateway,
    INNER_SUBNET: '10.89.6.0/24',
    OUTSIDE_SUBNET: `${OUTSIDE}.0/24`,
    TELEMETRY_ADDRESS: '10.89.6.254',
    GAME_SERVER_URL: `http://${gameServer.host}:${gameServer.port}`,
    OPERATOR_ID,
  };
  const tagsOf = (tag: string, names = services): Record<string, string> =>
    Object.fromEntries(names.map((name) => [tagVariable(name), tag]));
  const compose: Compose = (command, tag) =>
    engine.compose(`docker compose ${command}`, { ...variables, ...(tag !== undefined && tagsOf(tag)) });

  stack.defer(() => removeImages(engine));
  const removeContainers = async (): Promise<void> => {
    // The prepared file may not exist.
    const files = { COMPOSE_FILE, COMPOSE_PROFILES: 'monitoring' };
    await engine.compose('docker compose down --volumes --remove-orphans', { ...variables, ...files });
  };
  // Volumes of an interrupted rehearsal have other passwords.
  await removeContainers();
  stack.defer(removeContainers);
  const commands = await documentedCommands('deploy.md', 'On one machine: compose', [
    ['prepare-compose', `prepare-compose --out '${prepared}'`],
    ['curl ', 'curl --silent --fail '],
    ['http://127.0.0.1:8080', gateway],
  ]);
  const output = await engine.compose(commands, variables);
  const ready = (): Promise<void> => waitUntilReady(portal, services, stopping);
  await ready();
  const [adminToken] = /^eyJ\S+$/m.exec(output) ?? [];
  if (adminToken === undefined) throw new Error('prepare-compose printed no token');
  const access = await loadDemo(compose, services, { gateway, adminToken });

  const names = ['postgres', 'redis', ...services, 'gateway'];
  const containers: Record<string, string> = {};
  for (const name of [...names, TELEMETRY]) containers[name] = await containerOf(engine, name);
  const logs: Record<string, string> = {};
  const keepLog = async (name: string, container: string): Promise<void> => {
    logs[name] = `${logs[name] ?? ''}${await engine.compose(`docker logs ${container} 2>&1`, {})}`;
  };

  /** Kills a container and creates it again with another address. */
  const recreate = async (name: string): Promise<void> => {
    const old = await containerOf(engine, name);
    const oldAddress = await addressOf(engine, old);
    await engine.docker('kill', old);
    await keepLog(name, old);
    await engine.docker('rm', old);
    await using _occupied = await occupyAddress(engine, imageOf(services[0] ?? ''), oldAddress);
    await compose(`up --detach --no-deps ${name}`);
    const address = await addressOf(engine, await containerOf(engine, name));
    if (address === oldAddress) throw new Error(`${name} has the address ${address} again`);
  };

  const deployment: Omit<Deployment, keyof AsyncDisposable> = {
    access,
    gameServer,
    portal,
    prometheus: `http://127.0.0.1:${prometheusPort}`,
    containers,
    services,
    prepared,
    labels: LABELS,
    compose,
    query: async (database, sql) => {
      const psql = ['psql', '--username', 'postgres', '--no-psqlrc', '--tuples-only', '--no-align'];
      const container = containers['postgres'] ?? '';
      const rows = await engine.docker('exec', container, ...psql, database, '--command', sql);
      return rows.split('\n').filter(Boolean);
    },
    useTag: (tag, names) => void Object.assign(variables, tagsOf(tag, names)),
    runDocumented: async (page, heading, extra, edits) =>
      engine.compose(await documentedCommands(page, heading, edits), {
        ...variables,
        ...extra,
      }),
    ready,
    secrets: [...(await preparedSecrets(prepared)), adminToken],
    programs: [...names, EVERYTHING],
    crash: async (name) => {
      stopping.throwIfAborted();
      if (name === EVERYTHING) {
        for (const program of names) await keepLog(program, await containerOf(engine, program));
        await compose('down');
        await compose('up --wait');
      } else await recreate(name);
      await ready();
    },
    logs: async () => {
      for (const name of names) await keepLog(name, await containerOf(engine, name));
      return logs;
    },
  };
  return Object.assign(stack.move(), deployment);
};
