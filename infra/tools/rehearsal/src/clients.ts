import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startClients, type Traffic } from '@platform/e2e/load';
import type { StackFile } from '@platform/e2e/stack';
import { services } from '@platform/service-list';
import { stopping, waitFor } from './command.ts';
import type { Deployment } from './platform.ts';

const CONNECTIONS = 2;
/** A webhook is processed within this time. */
const PROCESSED_MS = 300_000;

/** Lets clients use the deployed platform while `work` runs, and resolves with what became of their requests. */
export const whileClientsRun = async (
  { stackFile }: Deployment,
  work: (traffic: Traffic) => Promise<void>,
): Promise<Traffic> => {
  const stack = JSON.parse(await readFile(stackFile, 'utf8')) as StackFile;
  const { traffic, stop } = await startClients(stack, CONNECTIONS);
  await work(traffic).finally(stop);
  return traffic;
};

/** One line for each request that failed, and for each service that acknowledged none. */
export const findFailures = (traffic: Traffic): string[] =>
  Object.entries(traffic).flatMap(([service, { acknowledged, failures }]) => [
    ...(acknowledged.size > 0 ? [] : [`${service} acknowledged no request`]),
    ...failures.map((failure) => `${service}: ${failure}`),
  ]);

/** The ids that were acknowledged and are not stored, by service, with the time of their acknowledgement. */
export const findMissing = async (
  platform: Deployment,
  traffic: Traffic,
): Promise<Record<string, Map<string, number>>> => {
  const missing: Record<string, Map<string, number>> = {};
  for (const { name, database, rehearsal } of services) {
    // Of webhooks those that are processed.
    const ids = new Set(await platform.query(database, rehearsal.stored));
    missing[name] = new Map([...(traffic[name]?.acknowledged ?? [])].filter(([id]) => !ids.has(id)));
  }
  return missing;
};

/** One line for each service that lost something acknowledged. Webhooks have some time to be processed. */
export const findLosses = async (platform: Deployment, traffic: Traffic): Promise<string[]> => {
  const lost = async (): Promise<string[]> =>
    Object.entries(await findMissing(platform, traffic))
      .filter(([, ids]) => ids.size > 0)
      .map(([service, ids]) => `${service} lost ${[...ids.keys()].join()}`);
  let found = await lost();
  for (
    const giveUp = Date.now() + PROCESSED_MS;
    found.length > 0 && Date.now() < giveUp;
    found = await lost()
  )
    await sleep(500, undefined, { signal: stopping });
  return found;
};

/** Waits until every service has acknowledged another request. */
export const waitForMore = async (traffic: Traffic): Promise<void> => {
  const before = new Map(
    Object.entries(traffic).map(([service, { acknowledged }]) => [service, acknowledged.size]),
  );
  await waitFor('every service acknowledges another request', () =>
    Object.entries(traffic).every(
      ([service, { acknowledged }]) => acknowledged.size > (before.get(service) ?? 0),
    ),
  );
};
