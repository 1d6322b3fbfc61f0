import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  apiKey,
  bearer,
  requestSignature,
  taskManager,
  unwrap,
  verifyProjects,
  walletOperator,
} from '@platform/client';
import { services } from '@platform/service-list';
import { persist, persistOnce } from './wait.ts';
import type { Access } from './stack.ts';

/** Creates a player with a deposit; returns the player's id. */
export const createPlayer = async (
  wallet: ReturnType<typeof walletOperator>,
  amount: string,
): Promise<string> => {
  const playerId = `e2e-${randomUUID()}`;
  const player = { playerId, currency: 'EUR', countryCode: 'DE' };
  await persistOnce(() => unwrap(wallet.POST('/v1/players', { body: player })));
  const params = { path: { playerId } };
  const deposit = { transactionId: `${playerId}-deposit`, amount };
  await persist(() => unwrap(wallet.POST('/v1/players/{playerId}/deposits', { params, body: deposit })));
  return playerId;
};

/** Sends a POST request; returns the id of the acknowledged record. */
type PostRequest = () => Promise<string>;

/** An access token is renewed after this time; it is valid for 15 minutes. */
const RENEWAL_MS = 300_000;

/** Creates a player with enough money; returns a function that debits 0.01 from it. */
const debits = async ({ gateway, demo }: Access): Promise<PostRequest> => {
  const { hmacSecret, gameCode } = demo.wallet;
  const wallet = walletOperator(gateway, bearer(demo.adminToken));
  const callbacks = walletOperator(gateway, requestSignature(hmacSecret));
  const playerId = await createPlayer(wallet, '10000.00');
  return async () => {
    const [requestId, transactionId, roundId] = [randomUUID(), randomUUID(), randomUUID()];
    const debit = { requestId, playerId, transactionId, roundId, gameCode, amount: '0.01' };
    const { status } = await unwrap(callbacks.POST('/callback/debit', { body: debit }));
    if (status !== 'OK') throw new Error(status);
    return transactionId;
  };
};

/** Sends a request that services.yaml describes; a new UUID replaces each string that begins with `my-`. */
const listedRequest = async (
  { gateway, demo }: Access,
  { path, body, id }: { path: string; body: object; id: string },
): Promise<string> => {
  const response = await fetch(gateway + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${demo.adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body).replaceAll(/"my-[\w-]+"/g, () => `"${randomUUID()}"`),
  });
  if (response.status !== 201) throw new Error(`status ${response.status}`);
  return String(((await response.json()) as Record<string, unknown>)[id]);
};

/** Registers a user; returns a function that returns the access token, and renews it before it expires. */
const registerUser = async (gateway: string): Promise<() => Promise<string>> => {
  const account = { email: `${randomUUID()}@example.test`, password: `Lavender ${randomUUID()}` };
  const accounts = taskManager(gateway);
  let { accessToken } = await persist(() => unwrap(accounts.POST('/auth/register', { body: account })));
  let renewAt = Date.now() + RENEWAL_MS;
  return async () => {
    if (Date.now() > renewAt) {
      renewAt = Date.now() + RENEWAL_MS;
      ({ accessToken } = await unwrap(accounts.POST('/auth/login', { body: account })));
    }
    return accessToken;
  };
};

/** Returns a POST request for each service, by the name of the service. */
const postRequests = async (access: Access): Promise<Record<string, PostRequest>> => {
  const { gateway, demo } = access;
  const admin = bearer(demo.adminToken);
  const tasks = taskManager(gateway, bearer(await registerUser(gateway)));
  const projects = verifyProjects(gateway, admin);
  const readers = verifyProjects(gateway, apiKey(demo.verifyApiKey));
  const task = { title: 'An errand', dueDate: '2030-01-01' };
  const project = { source_language: 'en', target_languages: ['de'] };
  const listedRequests: Record<string, PostRequest> = {};
  for (const { name, rehearsal } of services) {
    const { request } = rehearsal;
    if (request) listedRequests[name] = () => listedRequest(access, request);
  }
  return {
    ...listedRequests,
    'task-manager': async () => (await unwrap(tasks.POST('/tasks', { body: task }))).id,
    'store-webhooks': async () => {
      const url = `${gateway}/api/v1/hooks/order_updated/${demo.store.webhookToken}`;
      const id = randomUUID();
      const body = JSON.stringify({ id, status: 'PENDING', modified: Date.now() });
      const { status } = await fetch(url, { method: 'POST', body });
      if (status !== 200) throw new Error(`status ${status}`);
      return id;
    },
    'wallet-operator': await debits(access),
    'verify-projects': async () => {
      const body = { ...project, name: `Project ${randomUUID()}` };
      const { id } = await unwrap(projects.POST('/projects', { body }));
      await unwrap(readers.GET('/projects', { params: { query: { limit: 1 } } }));
      return id;
    },
  };
};

/** Results of the requests to one service. */
export interface Results {
  /** Ids, with the time of their acknowledgement in milliseconds since 1970. */
  acknowledged: Map<string, number>;
  /** One line for each request that failed. */
  failures: string[];
  /** Duration of the slowest request, in ms. */
  slowestMs: number;
}

/** Results of all requests, by service. */
export type Traffic = Record<string, Results>;

/** One line for each request that failed, and for each service that acknowledged none. */
export const findFailures = (traffic: Traffic): string[] =>
  Object.entries(traffic).flatMap(([service, { acknowledged, failures }]) => [
    ...(acknowledged.size > 0 ? [] : [`${service} acknowledged no request`]),
    ...failures.map((failure) => `${service}: ${failure}`),
  ]);

const CONNECTIONS_PER_SERVICE = 2;
const PAUSE_MS = 50;

/**
 * Repeats POST requests to every service while `work` runs, on two connections each, with a short pause after each
 * request. `work` gets the results so far; the returned results are complete.
 */
export const whileClientsRun = async (
  access: Access,
  work: (traffic: Traffic) => Promise<void>,
): Promise<Traffic> => {
  const end = new AbortController();
  const traffic: Traffic = {};
  const repeat = async (request: PostRequest, results: Results): Promise<void> => {
    while (!end.signal.aborted) {
      const start = performance.now();
      await request().then(
        (id) => results.acknowledged.set(id, Date.now()),
        (error: unknown) => results.failures.push(String(error)),
      );
      results.slowestMs = Math.max(results.slowestMs, performance.now() - start);
      await sleep(PAUSE_MS);
    }
  };
  const running = Object.entries(await postRequests(access)).flatMap(([service, request]) => {
    const results = (traffic[service] = { acknowledged: new Map(), failures: [], slowestMs: 0 });
    return Array.from({ length: CONNECTIONS_PER_SERVICE }, () => repeat(request, results));
  });
  try {
    await work(traffic);
  } finally {
    end.abort();
    await Promise.all(running);
  }
  return traffic;
};
