import { chmod, mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePortBase } from '@platform/local/ports';
import { run } from './program.ts';
import { waitFor, waitUntilReady } from './wait.ts';

/** The parts of .local/stack.json that are read here. */
export interface StackFile {
  gateway: string;
  services: Record<string, { url: string; pid: number | null; databaseUrl: string }>;
  /** Only with two instances of each service. */
  instances?: Record<string, { url: string; pid: number | null }[]>;
  postgres: { url: string; pid: number | null };
  redis: { url: string; pid: number | null };
  nginx: { pid: number | null };
  demo: {
    adminToken: string;
    consignmentsToken: string;
    store: { id: string; webhookToken: string };
    wallet: { hmacSecret: string; gameCode: string };
    verifyApiKey: string;
    verifyApiKeyNoScope: string;
  };
}

/** A running platform whose programs can be killed: processes of `start`, or containers. */
export interface Platform {
  /** Path of a file like `.local/stack.json`; only `gateway` and `demo` are read. */
  stackFile: string;
  /** Where the services reach the simulated game server. */
  gameServer: { host: string; port: number };
  /** Names of what is killed, in this order. */
  programs: readonly string[];
  /** Kills a program and waits until it runs again and everything is ready. */
  crash: (program: string) => Promise<void>;
  /** The logs that contain one of the secrets or one of the platform's own, without the secret itself. */
  leaks: (secrets: readonly string[]) => Promise<string[]>;
}

export interface Stack extends AsyncDisposable {
  /** Its folder, in place of `.local`. */
  local: string;
  gateway: string;
  /** Port of the simulated game server. */
  gamePort: number;
  read: () => Promise<StackFile>;
  /** The process of each program; null while it does not run. */
  pids: () => Promise<Record<string, number | null>>;
  /** Waits until the gateway and all services are ready. */
  ready: () => Promise<void>;
}

export const OPERATOR_ID = 'e2e-operator';

interface StackOptions {
  /** Processes of each service. */
  instances?: number;
  env?: Record<string, string>;
}

/** `pnpm start` with its own ports and folder; disposal stops it and removes the folder. */
export const startStack = async ({ instances = 1, env = {} }: StackOptions = {}): Promise<Stack> => {
  await using stack = new AsyncDisposableStack();
  const { path: local } = stack.use(await mkdtempDisposable(join(tmpdir(), 'e2e-')));
  // Root's PostgreSQL runs as another user, who must be able to enter.
  await chmod(local, 0o755);
  const base = await freePortBase();
  const [gatewayPort, gamePort] = [base + 90, base + 95];
  const start = stack.use(
    run('infra/local/src/start.ts', ['--local', local, '--instances', String(instances)], {
      GATEWAY_PORT: String(gatewayPort),
      PORT_BASE: String(base),
      WALLET_OPERATOR_GAME_SERVER_URL: `http://127.0.0.1:${gamePort}`,
      WALLET_OPERATOR_OPERATOR_ID: OPERATOR_ID,
      // Short, so that events of a killed worker are processed again within the test.
      STORE_WEBHOOKS_LEASE_MS: '5000',
      ...env,
    }),
  );
  let over = false;
  void start.ended.then(() => (over = true));
  await waitFor('the stack is up', () => {
    if (over) throw new Error(start.printed());
    return start.printed().includes('everything is ready');
  });
  const read = async () => JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as StackFile;
  const gateway = `http://127.0.0.1:${gatewayPort}`;
  const owned = stack.move();
  return {
    local,
    gateway,
    gamePort,
    read,
    ready: async () => waitUntilReady(gateway, Object.keys((await read()).services)),
    pids: async () => {
      const { services, postgres, redis, nginx } = await read();
      const own = Object.entries(services).map(([name, { pid }]) => [name, pid] as const);
      return { ...Object.fromEntries(own), postgres: postgres.pid, redis: redis.pid, nginx: nginx.pid };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
