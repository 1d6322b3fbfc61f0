import { setTimeout as sleep } from 'node:timers/promises';
import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';

/** The real process on the harness's database and spool. */
export const startProcess = (
  service: { databaseUrl: string; spool: string },
  variables: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
): Promise<ServiceProcess> =>
  startServiceProcess({
    folder: new URL('..', import.meta.url).pathname,
    nodeArguments,
    variables: {
      DATABASE_URL: service.databaseUrl,
      SPOOL_DIR: service.spool,
      SECRETS_KEY: 'ab'.repeat(32),
      SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
      AUTH_JWKS: 'none.json',
      AUTH_ISSUER: 'x',
      AUTH_AUDIENCE: 'x',
      REQUEST_LOG: 'failures',
      RETRY_BASE_MS: '20',
      IDLE_POLL_MS: '50',
      ...variables,
    },
  });

/** Sends one order; gives the status of the answer. */
export const sendOrder = async (url: string, token: string, id: string): Promise<number> => {
  const body = JSON.stringify({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });
  const answer = await fetch(`${url}/api/v1/hooks/order_updated/${token}`, { method: 'POST', body });
  return answer.status;
};

/**
 * Sends orders over some connections until it is stopped, at most `limit` of them. Returns the ids that got a 200,
 * those that did not, and all other answers.
 */
export const fire = (url: string, token: string, prefix: string, limit = Infinity, connections = 16) => {
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
  const running = Promise.all(Array.from({ length: connections }, connection));
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
