import { exists } from './files.ts';
import { join } from 'node:path';
import { unprivilegedAccount } from './account.ts';
import type { Crew } from './crew.ts';
import { startDemoServer } from './demo-server.ts';
import { mergeDemos, type Demo } from './demo.ts';
import type { Site } from './foundation.ts';
import { startGateway } from './gateway.ts';
import { layGround, plan, REDIS, roleSecret, SUPERUSER, type Ground, type Plan } from './ground.ts';
import { providePrograms, type Found } from './install.ts';
import { openSigner } from './keys.ts';
import { openLocalFolder, type LocalFolder } from './local-folder.ts';
import type { StartOptions } from './options.ts';
import { ownSettings, secretOf } from './own-settings.ts';
import { buildPortal, demoCredentials } from './portal.ts';
import { say, step } from './say.ts';
import { openSecrets } from './secrets.ts';
import { addressOf, launchService, type Launch } from './service-launch.ts';
import { runningDatabaseUrl, type Surroundings } from './service-programs.ts';
import { findServices, type Service } from './services.ts';
import type { Stack } from './stack-file.ts';
import { ensurePorts, type WantedPort } from './wanted-ports.ts';

/** What of the machine a stack is made of. */
export interface Materials {
  account: Site['account'];
  found: Found;
  local: LocalFolder;
  services: Service[];
}

/** Reads the services, finds or installs the programs and opens the local folder. */
export const gather = async (options: StartOptions): Promise<Materials> => {
  const services = await findServices(options.servicesFolder);
  const found = await providePrograms(['redis-server', 'nginx'], options.mayInstall);
  const account = await unprivilegedAccount();
  return { account, found, services, local: await openLocalFolder(options.localFolder, account) };
};

const wantedPorts = (
  { gatewayPort, portBase }: StartOptions,
  { postgresPort, redisPort }: Plan,
  { services, found }: Materials,
): WantedPort[] => {
  const based = (port: number, by: string): WantedPort => ({ port, by, variable: 'PORT_BASE' });
  return [
    ...services.map(({ name, port }) => based(portBase + port, name)),
    ...(postgresPort ? [based(postgresPort, 'PostgreSQL')] : []),
    ...(redisPort ? [based(redisPort, 'Redis')] : []),
    ...(found.nginx ? [{ port: gatewayPort, by: 'the gateway', variable: 'GATEWAY_PORT' } as const] : []),
  ];
};

/** Name of the secret that the gateway and the services share. */
const GATEWAY = 'gateway';

const secretNames = (services: readonly Service[]): string[] => [
  SUPERUSER,
  REDIS,
  GATEWAY,
  ...services.flatMap((service) => [
    roleSecret(service, 'run'),
    roleSecret(service, 'own'),
    ...service.secrets.map((variable) => secretOf(service, variable)),
  ]),
];

const TOKEN_TTL = '30d';

/** A stack that is up, but for the numbers of its processes, which change: `describe` gives them as they are now. */
export interface Up {
  describe: () => Stack;
  curls: Demo['curls'];
  /** Address of the portal, with the code that opens the demo there; undefined without a gateway. */
  portal: string | undefined;
}

/**
 * Brings the stack up, as much of it at once as can be.
 * @throws with what a person needs to see; what was started by then is in the crew
 */
export const bringUp = async (
  options: StartOptions,
  materials: Materials,
  crew: Crew,
  stopping: AbortSignal,
): Promise<Up> => {
  const { services, found, local, account } = materials;
  const layout = plan(options, services, found);
  await ensurePorts(wantedPorts(options, layout, materials));
  const secrets = await openSecrets(local.path, secretNames(services));
  const signer = await openSigner(local.keys);
  const scopes = [...new Set(services.flatMap((service) => service.scopes))].toSorted();
  const token = (scope: string) => signer.sign({ scope, subject: 'demo-admin', ttl: TOKEN_TTL });
  const adminToken = await token(scopes.join(' '));
  const gateway = found.nginx ? `http://127.0.0.1:${options.gatewayPort}` : null;
  const site: Site = { crew, local, account };
  const docsDir = join(local.path, 'portal');
  const portalUrl = (code: string): string => `${gateway}/docs/#code=${code}`;
  const demoServer = await startDemoServer((code) =>
    say(`The demo was opened in a browser. To open it in another one: ${portalUrl(code)}`),
  );

  const openGateway = async (): Promise<void> => {
    if (!found.nginx || !gateway) return;
    const places = services.map(({ name, port }) => [name, `127.0.0.1:${options.portBase + port}`]);
    await buildPortal(docsDir);
    await startGateway(site, {
      url: gateway,
      file: found.nginx,
      upstreams: Object.fromEntries(places),
      docsDir,
      demoServer: demoServer.address,
      secret: secrets(GATEWAY),
    });
    step('the gateway is ready');
  };
  const gatewayOpen = openGateway();
  // Waited for below; until then its failure must not count as nobody's.
  gatewayOpen.catch(() => {});

  const ground = await layGround(site, options, layout, found, secrets);
  const launch: Launch = { crew, local, adminToken, stopping };
  const compileCache = join(local.path, 'compile-cache');
  const firstStart = !(await exists(compileCache));
  const launched = await Promise.all(
    services.map(async (service) => {
      const port = options.portBase + service.port;
      const around: Surroundings = {
        port,
        publicUrl: gateway ?? addressOf({ port }),
        gatewaySecret: secrets(GATEWAY),
        database: ground.databases.get(service.name),
        redisUrl: ground.redisUrl,
        jwksFile: signer.jwksFile,
        compileCache,
        firstStart,
        own: await ownSettings(service, local, secrets),
      };
      const demo = await launchService(launch, service, around);
      step(`${service.name} is ready`);
      return { service, around, demo };
    }),
  );
  await gatewayOpen;

  const { demo, curls } = mergeDemos(launched.map((one) => one.demo));
  const tokens = { adminToken, consignmentsToken: await token('consignments:read') };
  return {
    curls,
    portal: gateway ? portalUrl(demoServer.offer(demoCredentials(adminToken, demo))) : undefined,
    describe: () => ({
      gateway,
      services: Object.fromEntries(
        launched.map(({ service, around }) => [
          service.name,
          {
            url: addressOf(around),
            pid: crew.pid(service.name),
            databaseUrl: runningDatabaseUrl(service, around),
          },
        ]),
      ),
      ...describeGround(ground, crew),
      nginx: gateway ? { pid: crew.pid('nginx') } : null,
      demo: { ...tokens, ...demo },
    }),
  };
};

const describeGround = ({ postgres, redisUrl }: Ground, crew: Crew): Pick<Stack, 'postgres' | 'redis'> => ({
  postgres: { url: postgres.url, pid: crew.pid('postgres'), dataDir: postgres.dataDir },
  redis: redisUrl ? { url: redisUrl, pid: crew.pid('redis') } : null,
});
