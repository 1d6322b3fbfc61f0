import type { Results, Traffic } from '@platform/e2e/load';
import { services } from '@platform/service-list';
import { waitFor } from './command.ts';
import type { Deployment } from './platform.ts';

/** Ids that were acknowledged but are not stored, by service, with the time of their acknowledgement. */
type Missing = Record<string, Map<string, number>>;

const findMissing = async (platform: Pick<Deployment, 'query'>, traffic: Traffic): Promise<Missing> => {
  const missing: Missing = {};
  for (const { name, database, rehearsal } of services) {
    // For store-webhooks, the ids of processed webhooks.
    const ids = new Set(await platform.query(database, rehearsal.stored));
    missing[name] = new Map([...(traffic[name]?.acknowledged ?? [])].filter(([id]) => !ids.has(id)));
  }
  return missing;
};

/**
 * Waits until everything that was acknowledged before a time (ms since 1970) is stored; webhooks are processed later.
 * Resolves with the ids that were acknowledged after that time and are not stored.
 */
export const waitUntilStored = async (
  platform: Pick<Deployment, 'query'>,
  traffic: Traffic,
  before = Infinity,
): Promise<Missing> => {
  let missing: Missing = {};
  const lost = (): string[] =>
    Object.entries(missing).flatMap(([service, ids]) =>
      [...ids].filter(([, at]) => at < before).map(([id]) => `${service} lacks ${id}`),
    );
  const description = (): string => `everything that was acknowledged is stored; ${lost().join(', ')}`;
  await waitFor(description, async () => {
    missing = await findMissing(platform, traffic);
    return lost().length === 0;
  });
  return missing;
};

/** Waits until a number has grown for every service. @throws with the other services and their last failures */
export const waitForGrowth = (
  description: string,
  traffic: Traffic,
  count: (service: string, results: Results) => number,
): Promise<void> => {
  const before = Object.entries(traffic).map(([service, results]) => ({
    service,
    results,
    number: count(service, results),
  }));
  const waiting = () => before.filter(({ service, results, number }) => count(service, results) <= number);
  const lines = (): string[] =>
    waiting().map(
      ({ service, results }) => `${service} (last failure: ${results.failures.at(-1) ?? 'none'})`,
    );
  return waitFor(
    () => `${description}; not yet: ${lines().join(', ')}`,
    () => waiting().length === 0,
  );
};

/** Waits until every service has acknowledged another request. */
export const waitForMore = (traffic: Traffic): Promise<void> =>
  waitForGrowth(
    'every service acknowledges another request',
    traffic,
    (_, { acknowledged }) => acknowledged.size,
  );
