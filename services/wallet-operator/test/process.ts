import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@platform/local/ports';
import { secret } from './harness.ts';

export interface ServiceProcess extends AsyncDisposable {
  url: string;
  /** Ends it as a crash would. */
  kill9(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
}

/** Settings of a service that runs as a process of its own. */
export const processEnvironment = (databaseUrl: string, port: number, redisUrl = '') => ({
  PORT: String(port),
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  AUTH_JWKS: 'none',
  AUTH_ISSUER: 'test',
  AUTH_AUDIENCE: 'test',
  HMAC_SECRET: secret,
  LOG_LEVEL: 'silent',
  DRAIN_MS: '0',
  // More than the callbacks that may wait, so that a test sees those beyond refused and not their connections.
  MAX_CONNECTIONS: '4000',
});

/** The service as a process of its own, as it runs in production. */
export const startProcess = async (databaseUrl: string, redisUrl = ''): Promise<ServiceProcess> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = processEnvironment(databaseUrl, port, redisUrl);
  const folder = new URL('..', import.meta.url).pathname;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(process.execPath, ['src/main.ts'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ready = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await ready())) {
      if (child.exitCode !== null) throw new Error('the service did not start');
      await sleep(30);
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  await start();
  return {
    url,
    start,
    kill9: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
};
