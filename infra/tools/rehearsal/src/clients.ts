import type { Results, Traffic } from '@platform/e2e/load';
import { services } from '@platform/service-list';
import { waitFor } from './command.ts';
import type { Deployment } from './platform.ts';

/** By service, ids that were acknowledged but are not stored, with the time of their acknowledgement. */
type Missing = Record<string, Map<string, number>>;

const findMissing = async (platform: Pick<Deployment, 'query'>, traffic: Traffic): Promise<Missing> => {
  const missing: Missing = {};
  for (const { name, database, rehearsal } of services) {
    // Of store-webhooks, these are the ids of processed webhooks.
    const ids = new Set(await platform.query(database, rehearsal.stored));
    missing[name] = new Map([...(traffic[name]?.acknowledged ?? [])].filter(([id]) => !ids.has(id)));
  }
  return missing;
};

/**
 * Waits until everything that was acknowledged before a time (ms since 1970) is stored; webhooks are stored later than
 * they are acknowledged. Returns the ids that were acknowledged after that time and are not stored.
 */
export const waitUntilStored = async (
  platform: Pick<Deployment, 'query'>,
  traffic: Traffic,
  before = Infinity,
): Promise<Missing> => {
  let missing: Missing = {};
  const lost = (): string[] => {
    const lines: string[] = [];
    for (const [service, ids] of Object.entries(missing))
      for (const [id, acknowledgedAt] of ids)
        if (acknowledgedAt < before) lines.push(`${service} lacks ${id}`);
    return lines;
  };
  const description = (): string => `everything that was acknowledged is stored; ${lost().join(', ')}`;
  await waitFor(description, async () => {
    missing = await findMissing(platform, traffic);
    return lost().length === 0;
  });
  return missing;
};

/** Waits until `count` has grown for every service. @throws naming the other services and their last failures */
export const waitForGrowth = (
  description: string,
  traffic: Traffic,
  count: (service: string, results: Results) => number,
): Promise<void> => {
  const counts = () => Object.entries(traffic).map(([service, results]) => count(service, results));
  const before = counts();
  const withoutGrowth = (): string[] => {
    const now = counts();
    return Object.entries(traffic)
      .filter((_, index) => (now[index] ?? 0) <= (before[index] ?? 0))
      .map(([service, { failures }]) => `${service} (last failure: ${failures.at(-1) ?? 'none'})`);
  };
  return waitFor(
    () => `${description}; not yet: ${withoutGrowth().join(', ')}`,
    () => withoutGrowth().length === 0,
  );
};

/** Waits until every service has acknowledged another request. */
export const waitForMore = (traffic: Traffic): Promise<void> =>
  waitForGrowth(
    'every service acknowledges another request',
    traffic,
    (_, { acknowledged }) => acknowledged.size,
  );
