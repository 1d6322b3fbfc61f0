import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATOR_ID, type Access, type Platform } from '@platform/e2e/stack';
import { waitUntilReady } from '@platform/e2e/wait';
import { freePort } from '@platform/local/ports';
import { tagVariable } from '@platform/service-list';
import { ROOT, stopping } from './command.ts';
import type { Engine } from './engine.ts';

const PROJECT = 'platform-rehearsal';
/** First three numbers of the addresses in the network with outside access. */
const OUTSIDE = '10.89.7';
/** Labels of the images, without their prefix. */
const LABELS = {
  version: 'latest',
  revision: 'rehearsed',
  created: '2026-11-22T00:00:00Z',
  source: 'https://git.example.test/platform',
  licenses: 'MIT',
};
const TELEMETRY = 'gateway-telemetry';
/** A step in which all containers stop and start. */
const EVERYTHING = 'down and up';

/** Text of a command, and its replacement in the rehearsal. */
type Edit = readonly [old: string, next: string];

/** The platform in containers. */
export interface Deployment extends Platform, AsyncDisposable {
  /** Address of the gateway. */
  gateway: string;
  /** Address of the portal, which has its own port. */
  portal: string;
  /** Names of the first version's containers, by their service in compose.yaml. */
  containers: Record<string, string>;
  services: readonly string[];
  /** The folder that prepare-compose wrote. */
  prepared: string;
  /** Labels that the images must have. */
  labels: Record<string, string>;
  /** The network in which the containers reach each other. */
  network: string;
  /** Image of a service, without its tag. */
  imageOf: (service: string) => string;
  /** Runs a `docker compose` command for this project, with the images of `tag` if it is set. */
  compose: (command: string, tag?: string) => Promise<string>;
  /** The first column of a query in a database. */
  query: (database: string, sql: string) => Promise<string[]>;
  /** Makes `tag` the version that later commands use. */
  useTag: (tag: string) => void;
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

/** Replaces the call of a script by the content of the script, so that edits apply to both. */
const inlineScript = async (commands: string): Promise<string> => {
  const [, file] = /^sh (infra\/\S+\.sh)$/m.exec(commands) ?? [];
  if (file === undefined) return commands;
  return commands.replace(`sh ${file}`, `(\n${await readFile(join(ROOT, file), 'utf8')})`);
};

/** The first code block below a heading of a page in docs/, for the rehearsal's project. @throws when an edit does not match */
export const documentedCommands = async (
  page: string,
  heading: string,
  edits: readonly Edit[] = [],
): Promise<string> => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const [, block] = text.split(`# ${heading}\n`)[1]?.split('```') ?? [];
  if (!block?.startsWith('sh')) throw new Error(`docs/${page} has no commands below "${heading}"`);
  const commands = await inlineScript(block.slice(block.indexOf('\n') + 1));
  return edits.reduce(
    (edited, [old, next]) => {
      if (!edited.includes(old)) throw new Error(`docs/${page} has no "${old}" below "${heading}"`);
      return edited.replaceAll(old, next);
    },
    commands
      .replaceAll('-p platform ', `-p ${PROJECT} `)
      .replaceAll('COMPOSE_PROJECT_NAME=platform\n', `COMPOSE_PROJECT_NAME=${PROJECT}\n`)
      .replaceAll('platform_', `${PROJECT}_`),
  );
};

/** Secrets that prepare-compose created; of a URL only the password, of a key only the private part. */
const preparedSecrets = async (prepared: string): Promise<string[]> => {
  const folder = join(prepared, 'secrets');
  const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(texts)).map((text) => {
    if (text.startsWith('{')) return (JSON.parse(text) as { d: string }).d;
    return text.includes('://') ? new URL(text).password : text.trim();
  });
};

/** Deploys the platform with the commands of docs/deploy.md, as a project with its own networks and ports. */
export const deploy = async (engine: Engine, services: readonly string[]): Promise<Deployment> => {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const portalPort = await freePort();
  const gateway = `http://127.0.0.1:${port}`;
  const portal = `http://127.0.0.1:${portalPort}`;
  const gameServer = { host: `${OUTSIDE}.1`, port: await freePort() };
  const { path: folder } = stack.use(await mkdtempDisposable(join(tmpdir(), 'rehearsal-')));
  const prepared = join(folder, 'prepared');
  const variables: Record<string, string> = {
    PREPARED: prepared,
    REGISTRY: PROJECT,
    REVISION: LABELS.revision,
    CREATED: LABELS.created,
    SOURCE: LABELS.source,
    GATEWAY_PORT: String(port),
    PORTAL_PORT: String(portalPort),
    PUBLIC_URL: gateway,
    INNER_SUBNET: '10.89.6.0/24',
    OUTSIDE_SUBNET: `${OUTSIDE}.0/24`,
    TELEMETRY_ADDRESS: '10.89.6.254',
    GAME_SERVER_URL: `http://${gameServer.host}:${gameServer.port}`,
    OPERATOR_ID,
  };
  /** The gateway keeps its version. */
  const tagsOf = (tag: string): Record<string, string> =>
    Object.fromEntries(services.map((name) => [tagVariable(name), tag]));
  const compose = (command: string, tag?: string): Promise<string> =>
    engine.compose(`docker compose -p ${PROJECT} -f infra/deploy/compose.yaml ${command}`, {
      ...variables,
      ...(tag !== undefined && tagsOf(tag)),
    });
  const imageOf = (name: string): string => `${PROJECT}/${name}`;

  stack.defer(async () => {
    const built = await engine.docker('images', '--format', '{{.Repository}}:{{.Tag}}', `${PROJECT}/*`);
    if (built !== '') await engine.docker('image', 'rm', ...built.trim().split('\n'));
  });
  const removeAll = async (): Promise<void> => void (await compose('down --volumes --remove-orphans'));
  // Volumes of an interrupted rehearsal have other passwords.
  await removeAll();
  stack.defer(removeAll);
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

  const demo = { adminToken };
  for (const name of services) {
    const settings = `-e GATEWAY_URL=${gateway} -e DEMO_ADMIN_TOKEN=${adminToken}`;
    const text = await compose(`exec -T ${settings} ${name} node src/demo.ts`);
    Object.assign(demo, (JSON.parse(text) as { demo: object }).demo);
  }
  const access = { gateway, demo } as Access;

  const names = ['postgres', 'redis', ...services, 'gateway'];
  // docker is much faster here than version 1 of compose.
  const containerOf = async (name: string): Promise<string> => {
    const labels = [`project=${PROJECT}`, `service=${name}`].map(
      (label) => `label=com.docker.compose.${label}`,
    );
    const filters = labels.flatMap((label) => ['--filter', label]);
    return (await engine.docker('ps', ...filters, '--format', '{{.Names}}')).trim();
  };
  const entries = [...names, TELEMETRY].map(async (name) => [name, await containerOf(name)]);
  const containers = Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
  const network = `${PROJECT}_inner`;
  const addressOf = async (container: string): Promise<string> => {
    const format = `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`;
    return (await engine.docker('inspect', '--format', format, container)).trim();
  };
  const logs: Record<string, string> = {};
  const keepLog = async (name: string, container: string): Promise<void> => {
    logs[name] = `${logs[name] ?? ''}${await engine.compose(`docker logs ${container} 2>&1`, {})}`;
  };

  /** Kills and recreates a container. Another container takes its address meanwhile, so that the new one gets another. */
  const recreate = async (name: string): Promise<void> => {
    const old = await containerOf(name);
    const before = await addressOf(old);
    await engine.docker('kill', old);
    await keepLog(name, old);
    await engine.docker('rm', old);
    const idle = [`${imageOf(services[0] ?? '')}:latest`, 'node', '-e', 'setInterval(() => {}, 1e6)'];
    const address = ['--network', network, '--ip', before];
    const other = await engine.docker('run', '--rm', '--detach', ...address, ...idle);
    try {
      await compose(`up --detach --no-deps ${name}`);
      const after = await addressOf(await containerOf(name));
      if (after === before) throw new Error(`${name} has the address ${before} again`);
    } finally {
      await engine.docker('kill', other.trim());
    }
  };

  const owned = stack.move();
  return {
    access,
    gameServer,
    gateway,
    portal,
    containers,
    services,
    prepared,
    labels: LABELS,
    network,
    imageOf,
    compose,
    query: async (database, sql) => {
      const psql = ['psql', '--username', 'postgres', '--no-psqlrc', '--tuples-only', '--no-align'];
      const container = containers['postgres'] ?? '';
      const rows = await engine.docker('exec', container, ...psql, database, '--command', sql);
      return rows.split('\n').filter(Boolean);
    },
    useTag: (tag) => void Object.assign(variables, tagsOf(tag)),
    runDocumented: async (page, heading, extra, edits) =>
      engine.compose(await documentedCommands(page, heading, edits), {
        ...variables,
        COMPOSE_PROJECT_NAME: PROJECT,
        COMPOSE_FILE: 'infra/deploy/compose.yaml',
        ...extra,
      }),
    ready,
    secrets: [...(await preparedSecrets(prepared)), adminToken],
    programs: [...names, EVERYTHING],
    crash: async (name) => {
      stopping.throwIfAborted();
      if (name === EVERYTHING) {
        for (const program of names) await keepLog(program, await containerOf(program));
        await compose('down');
        await compose('up --wait');
      } else await recreate(name);
      await ready();
    },
    logs: async () => {
      for (const name of names) await keepLog(name, await containerOf(name));
      return logs;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
