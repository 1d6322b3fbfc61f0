import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@platform/local/ports';

/** The real process on the harness's database and spool. */
export const startProcess = async (
  service: { databaseUrl: string; spool: string },
  variables: Record<string, string> = {},
) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: new URL('..', import.meta.url).pathname,
    env: {
      PATH: process.execPath,
      PORT: String(port),
      DATABASE_URL: service.databaseUrl,
      SPOOL_DIR: service.spool,
      SECRETS_KEY: 'ab'.repeat(32),
      AUTH_JWKS: 'none.json',
      AUTH_ISSUER: 'x',
      AUTH_AUDIENCE: 'x',
      LOG_LEVEL: 'silent',
      DRAIN_MS: '0',
      RETRY_BASE_MS: '20',
      IDLE_POLL_MS: '50',
      ...variables,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const alive = () =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await alive())) await sleep(50);
  return {
    url,
    /** For a test that failed: whatever it is doing. */
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number];
      return code;
    },
  };
};

/** Sends one order; gives the status of the answer. */
export const sendOrder = async (url: string, token: string, id: string): Promise<number> => {
  const body = JSON.stringify({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });
  const answer = await fetch(`${url}/api/v1/hooks/order_updated/${token}`, { method: 'POST', body });
  return answer.status;
};

/**
 * Sends orders over 16 connections until it is stopped, at most `limit` of them. Returns the ids that got a 200,
 * those that did not, and all other answers.
 */
export const fire = (url: string, token: string, prefix: string, limit = Infinity) => {
  const acknowledged: string[] = [];
  const unacknowledged: string[] = [];
  const refused: number[] = [];
  let going = true;
  let next = 0;
  const connection = async (): Promise<void> => {
    while (going && next < limit) {
      const id = `${prefix}-${next++}`;
      // Undefined where a process that was killed gave no answer.
      const status = await sendOrder(url, token, id).catch(() => undefined);
      if (status === 200) {
        acknowledged.push(id);
        continue;
      }
      unacknowledged.push(id);
      if (status === undefined) await sleep(10);
      else refused.push(status);
    }
  };
  const running = Promise.all(Array.from({ length: 16 }, connection));
  return {
    acknowledged,
    unacknowledged,
    refused,
    [Symbol.dispose]: () => void (going = false),
    stop: async () => {
      going = false;
      await running;
    },
  };
};
