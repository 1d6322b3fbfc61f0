import { setTimeout as sleep } from 'node:timers/promises';
import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';

/** Starts the real process with the database and spool of the harness. */
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

/** Sends one order. Returns the status of the response. */
export const sendOrder = async (url: string, token: string, id: string): Promise<number> => {
  const body = JSON.stringify({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });
  const answer = await fetch(`${url}/api/v1/hooks/order_updated/${token}`, { method: 'POST', body });
  return answer.status;
};

/**
 * Sends up to `limit` orders over some connections until it is stopped. Returns the ids that got 200, those that did
 * not, and all other statuses.
 */
export const fire = (url: string, token: string, prefix: string, limit = Infinity, connections = 16) => {
  const acknowledged: string[] = [];
  const unacknowledged: string[] = [];
  const refused: number[] = [];
  let isSending = true;
  let next = 0;
  const connection = async (): Promise<void> => {
    while (isSending && next < limit) {
      const id = `${prefix}-${next++}`;
      // Undefined if the process was killed before it answered.
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
    [Symbol.dispose]: () => void (isSending = false),
    stop: async () => {
      isSending = false;
      await running;
    },
  };
};
