import { join } from 'node:path';
import { exists, openLocalFolder, type LocalFolder, type Stack } from './local-folder.ts';
import type { Supervisor } from './supervisor.ts';
import { MAILBOX_SCOPE, startDemoServer } from './demo-server.ts';
import {
  addressOf,
  compileModules,
  mergeDemos,
  prepareService,
  runningDatabaseUrl,
  startInstance,
  type Demo,
  type Launch,
  type ServiceSettings,
} from './service-process.ts';
import { startGateway, startTelemetry, buildPortal, demoCredentials, pageSettings } from './gateway.ts';
import {
  openBackingServices,
  planBackingServices,
  type BackingServices,
  type ProgramHost,
} from './backing-services.ts';
import { providePrograms, type ProgramPaths } from './install.ts';
import { audienceOf, openSigner } from './keys.ts';
import { ROOT, type StartOptions } from './options.ts';
import { openSecrets, listedSettings, standInOf, standInSettings, startStandIn } from './service-settings.ts';
import { print, printStep } from './print.ts';
import { findServices, instanceName, instancePort, probePort, type Service } from './services.ts';
import { ensurePorts, instancesOf, wantedPorts } from './ports.ts';

/** The programs, folder and services that a stack uses. */
export interface Prepared {
  programPaths: ProgramPaths;
  local: LocalFolder;
  services: Service[];
}

/** Reads the services, finds or installs the programs and opens the local folder. */
export const prepare = async (options: StartOptions): Promise<Prepared> => {
  const services = await findServices(options.servicesFolder);
  const programPaths = await providePrograms(['redis-server', 'nginx'], options.mayInstall);
  return { programPaths, services, local: await openLocalFolder(options.localFolder) };
};

/** Outside the local folder, because a stack with empty data runs the same modules. `start` itself has a separate cache. */
const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compile');

/** Name of the secret that the gateway and the services share. */
const GATEWAY = 'gateway';

const TOKEN_TTL = '30d';

/** A stack that is ready. */
export interface RunningStack {
  /** The stack as it is now: process ids change. */
  describe: () => Stack;
  curls: Demo['curls'];
  /** Address of the portal, with the code that opens the demo there; undefined without a gateway. */
  portal: string | undefined;
}

/**
 * Starts the stack, with as many steps in parallel as possible.
 * @throws with the reason; the caller stops the programs that were already started through the supervisor
 */
export const bringUp = async (
  options: StartOptions,
  prepared: Prepared,
  supervisor: Supervisor,
  stopping: AbortSignal,
): Promise<RunningStack> => {
  const { services, programPaths, local } = prepared;
  const plan = planBackingServices(options, services, programPaths);
  await ensurePorts(wantedPorts(options, plan, services, programPaths.nginx !== null));
  const secrets = await openSecrets(local.path);
  const signer = await openSigner(local.keys);
  const scopes = [...new Set(services.flatMap((service) => service.scopes))].toSorted();
  // The audiences of the services and all cells.
  const audience = [...new Set(services.map(audienceOf))];
  const token = (scope: string, subject = 'demo-admin') =>
    signer.sign({ audience, scope, subject, ttl: TOKEN_TTL });
  const adminToken = await token([...scopes, MAILBOX_SCOPE].join(' '));
  const gateway = programPaths.nginx ? `http://127.0.0.1:${options.gatewayPort}` : null;
  const host: ProgramHost = { supervisor, local };
  const docsDir = join(local.path, 'portal');
  const portalUrl = (code: string): string => `${gateway}/docs/#code=${code}`;
  const demoServer = await startDemoServer(
    (code) => print(`The demo was opened in a browser. To open it in another one: ${portalUrl(code)}`),
    signer,
  );

  const openGateway = async (): Promise<void> => {
    if (!programPaths.nginx || !gateway) return;
    const upstreams = services.map((service) => [
      service.name,
      instancesOf(options).map(
        (instance) => `127.0.0.1:${instancePort(service, options.portBase, instance)}`,
      ),
    ]);
    await buildPortal(docsDir);
    const metricsPort = options.gatewayMetricsPort;
    if (metricsPort !== undefined) await startTelemetry(host, metricsPort);
    await startGateway(host, {
      url: gateway,
      file: programPaths.nginx,
      upstreams: Object.fromEntries(upstreams),
      tls: options.gatewayTls,
      ipv6: options.gatewayIpv6,
      metricsPort,
      docsDir,
      demoServer: demoServer.address,
      secret: secrets(GATEWAY),
    });
    printStep('the gateway is ready');
  };
  const gatewayOpen = openGateway();
  // Awaited below; until then a failure must not be an unhandled rejection.
  gatewayOpen.catch(() => {});

  // One processor core is idle while PostgreSQL starts.
  const compiling = (await exists(COMPILE_CACHE))
    ? undefined
    : compileModules(services, COMPILE_CACHE, stopping);
  const backing = await openBackingServices(host, options, plan, programPaths, secrets);
  await compiling;
  const launch: Launch = { supervisor, local, adminToken, stopping };
  const settingsOf = async (service: Service, instance: number): Promise<ServiceSettings> => {
    const port = instancePort(service, options.portBase, instance);
    return {
      port,
      probePort: probePort(service, options.portBase, instance),
      publicUrl: gateway ? gateway + service.prefix : addressOf({ port }),
      gatewaySecret: secrets(GATEWAY),
      database: backing.databases.get(service.name),
      redisUrl: backing.redisUrl,
      jwksFile: signer.jwksFile,
      compileCache: COMPILE_CACHE,
      serviceVariables: {
        ...(await listedSettings(service, local, secrets, instance)),
        ...standInSettings(standInOf(service, options)),
        ...pageSettings(service, gateway),
        ...(service.deploy.optionalSecrets?.includes('SMTP_URL') && { SMTP_URL: demoServer.smtpUrl }),
      },
    };
  };
  const launched = await Promise.all(
    services.map(async (service) => {
      const settings = await settingsOf(service, 1);
      const standIn = startStandIn(launch, service, settings, options);
      // Awaited below; until then a failure must not be an unhandled rejection.
      standIn.catch(() => {});
      const demo = await prepareService(launch, service, settings);
      const instances = await Promise.all(
        instancesOf(options).map(async (instance) => {
          const name = instanceName(service, instance);
          const instanceSettings = instance === 1 ? settings : await settingsOf(service, instance);
          await startInstance(launch, name, service, instanceSettings);
          return { name, url: addressOf(instanceSettings) };
        }),
      );
      await standIn;
      printStep(`${service.name} is ready`);
      return { service, settings, demo, instances };
    }),
  );
  await gatewayOpen;

  const { demo, curls } = mergeDemos(launched.map((service) => service.demo));
  const tokens = {
    adminToken,
    // For a second person, who approves the adjustments that the first one requests.
    approverToken: await token('wallet:approve wallet:read', 'demo-approver'),
    consignmentsToken: await token('consignments:read'),
  };
  return {
    curls,
    portal: gateway ? portalUrl(demoServer.offer(demoCredentials(adminToken, demo))) : undefined,
    describe: () => ({
      gateway,
      services: Object.fromEntries(
        launched.map(({ service, settings }) => [
          service.name,
          {
            url: addressOf(settings),
            pid: supervisor.pid(service.name),
            databaseUrl: runningDatabaseUrl(service, settings),
          },
        ]),
      ),
      ...(options.instances > 1 && {
        instances: Object.fromEntries(
          launched.map(({ service, instances }) => [
            service.name,
            instances.map(({ name, url }) => ({ url, pid: supervisor.pid(name) })),
          ]),
        ),
      }),
      ...describeBackingServices(backing, supervisor),
      nginx: gateway ? { pid: supervisor.pid('nginx') } : null,
      demo: { ...tokens, ...demo },
    }),
  };
};

const describeBackingServices = (
  { postgres, redisUrl }: BackingServices,
  supervisor: Supervisor,
): Pick<Stack, 'postgres' | 'redis'> => ({
  postgres: { url: postgres.url, pid: supervisor.pid('postgres'), dataDir: postgres.dataDir },
  redis: redisUrl ? { url: redisUrl, pid: supervisor.pid('redis') } : null,
});
