import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bearer,
  consignments,
  questService,
  requestSignature,
  taskManager,
  unwrap,
  verifyProjects,
  walletOperator,
} from '@platform/client';
import type { StackFile } from './stack.ts';

/** POST requests to every service, by its name. */
export const postRequests = async ({
  gateway,
  demo,
}: StackFile): Promise<Record<string, () => Promise<unknown>>> => {
  const admin = bearer(demo.adminToken);
  const account = { email: `${randomUUID()}@example.test`, password: `Lavender ${randomUUID()}` };
  const { accessToken } = await unwrap(taskManager(gateway).POST('/auth/register', { body: account }));
  const tasks = taskManager(gateway, bearer(accessToken));
  const quests = questService(gateway, admin);
  const callbacks = walletOperator(gateway, requestSignature(demo.wallet.hmacSecret));
  const projects = verifyProjects(gateway, admin);
  const shipping = consignments(gateway, admin);
  const project = { source_language: 'en', target_languages: ['de'] };
  return {
    'task-manager': () => unwrap(tasks.POST('/tasks', { body: { title: 'An errand' } })),
    'quest-service': () => unwrap(quests.POST('/quests', { body: { title: 'A quest' } })),
    'store-webhooks': async () => {
      const url = `${gateway}/api/v1/hooks/order_updated/${demo.store.webhookToken}`;
      const { status } = await fetch(url, { method: 'POST', body: JSON.stringify({ id: randomUUID() }) });
      if (status !== 200) throw new Error(`status ${status}`);
    },
    'wallet-operator': async () => {
      const body = { requestId: randomUUID(), playerId: 'demo-1' };
      const { status } = await unwrap(callbacks.POST('/callback/balance', { body }));
      if (status !== 'OK') throw new Error(status);
    },
    'verify-projects': () =>
      unwrap(projects.POST('/projects', { body: { ...project, name: `Project ${randomUUID()}` } })),
    consignments: () =>
      unwrap(
        shipping.POST('/consignments', {
          body: { consignmentNumber: randomUUID(), clientId: randomUUID(), clientName: 'A client' },
        }),
      ),
  };
};

/** What became of the requests to one service. */
export interface Sent {
  requests: number;
  /** One line for each request that failed. */
  failures: string[];
}

const PAUSE_MS = 50;

/** Repeats a request on several connections until the signal is aborted, with a short pause after each. */
export const repeat = async (
  request: () => Promise<unknown>,
  connections: number,
  end: AbortSignal,
): Promise<Sent> => {
  const sent: Sent = { requests: 0, failures: [] };
  const work = async (): Promise<void> => {
    while (!end.aborted) {
      sent.requests += 1;
      await request().catch((error: unknown) => sent.failures.push(String(error)));
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return sent;
};
