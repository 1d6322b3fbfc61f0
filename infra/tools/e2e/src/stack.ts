import { chmod, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platformPorts, startPlatform, startScript, type StartedScript } from '@platform/local/platform';
import { readStack, type Stack } from '@platform/local/stack-file';
import { waitUntilReady } from './wait.ts';

/** Content of .local/stack.json, for a platform with gateway, Redis and demo data. */
export interface StackFile extends Stack {
  gateway: string;
  redis: { url: string; pid: number | null };
  nginx: { pid: number | null };
  demo: {
    adminToken: string;
    approverToken: string;
    consignmentsToken: string;
    store: { id: string; webhookToken: string };
    wallet: { hmacSecret: string; gameCode: string };
    verifyApiKey: string;
    verifyApiKeyNoScope: string;
    verifyPartnerKey: string;
  };
}

/** Address of a platform, and its credentials. */
export type Access = Pick<StackFile, 'gateway' | 'demo'>;

/** A running platform whose programs can be killed: processes of `start`, or containers. */
export interface Platform {
  access: Access;
  /** Address at which the services reach the simulated game server. */
  gameServer: { host: string; port: number };
  /** Names of the programs to kill, in this order. */
  programs: readonly string[];
  /** Kills a program and waits until it runs again and everything is ready. */
  crash: (program: string) => Promise<void>;
  /** Passwords, keys and tokens of the platform. */
  secrets: readonly string[];
  /** The texts of the logs, by name. */
  logs: () => Promise<Record<string, string>>;
}

export const OPERATOR_ID = 'e2e-operator';

interface StackOptions {
  /** Number of processes per service. */
  instances?: number;
  env?: Record<string, string>;
}

/** Runs `pnpm start` with its own ports and folder; disposal stops it and removes the folder. */
export const startStack = async ({ instances = 1, env = {} }: StackOptions = {}) => {
  await using resources = new AsyncDisposableStack();
  const { path: local } = resources.use(await mkdtempDisposable(join(tmpdir(), 'e2e-')));
  await chmod(local, 0o755);
  const ports = await platformPorts();
  const gamePort = Number(ports.PORT_BASE) + 95;
  const platform = resources.use(
    startPlatform({
      local,
      args: ['--instances', String(instances)],
      env: {
        ...ports,
        WALLET_OPERATOR_GAME_SERVER_URL: `http://127.0.0.1:${gamePort}`,
        WALLET_OPERATOR_OPERATOR_ID: OPERATOR_ID,
        // Short, so that events of a killed worker are processed again within the test.
        STORE_WEBHOOKS_LEASE_MS: '5000',
        ...env,
      },
    }),
  );
  await platform.ready();
  const read = async () => (await readStack(local)) as StackFile;
  const { gateway } = await read();
  return Object.assign(resources.move(), {
    /** The stack's folder, instead of `.local`. */
    local,
    /** Port of the simulated game server. */
    gamePort,
    read,
    /** Waits until the gateway and all services are ready. */
    ready: async () => waitUntilReady(gateway, Object.keys((await read()).services)),
    /** Returns the process id of each program; null while it does not run. */
    pids: async (): Promise<Record<string, number | null>> => {
      const { services, postgres, redis, nginx } = await read();
      const servicePids = Object.entries(services).map(([name, { pid }]) => [name, pid] as const);
      return {
        ...Object.fromEntries(servicePids),
        postgres: postgres.pid,
        redis: redis.pid,
        nginx: nginx.pid,
      };
    },
  });
};

export type LocalStack = Awaited<ReturnType<typeof startStack>>;

/** Starts the simulated game server; it plays `rounds` rounds for each launched player. */
export const runGameServer = (
  { host, port }: Platform['gameServer'],
  operatorUrl: string,
  hmacSecret: string,
  rounds: number,
): StartedScript => {
  const options = { host, port, rounds, url: operatorUrl, 'operator-id': OPERATOR_ID };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const env = { HMAC_SECRET: hmacSecret };
  return startScript('packages/wallet-conformance/src/main.ts', ['game-server', ...args], { env });
};
