import { whileClientsRun as whileAnyClientsRun, type Results, type Traffic } from '@platform/e2e/load';
import { services } from '@platform/service-list';
import { waitFor } from './command.ts';
import type { Deployment } from './platform.ts';

const CONNECTIONS = 2;

/** Lets clients use the deployed platform while `work` runs, and resolves with what became of their requests. */
export const whileClientsRun = (
  { access }: Deployment,
  work: (traffic: Traffic) => Promise<void>,
): Promise<Traffic> => whileAnyClientsRun(access, CONNECTIONS, work);

/** The ids that were acknowledged and are not stored, by service, with the time of their acknowledgement. */
type Missing = Record<string, Map<string, number>>;

const findMissing = async (platform: Pick<Deployment, 'query'>, traffic: Traffic): Promise<Missing> => {
  const missing: Missing = {};
  for (const { name, database, rehearsal } of services) {
    // Of webhooks those that are processed.
    const ids = new Set(await platform.query(database, rehearsal.stored));
    missing[name] = new Map([...(traffic[name]?.acknowledged ?? [])].filter(([id]) => !ids.has(id)));
  }
  return missing;
};

/**
 * Waits until everything is stored that was acknowledged before a time (ms since 1970), because webhooks are processed later.
 * Resolves with what was acknowledged after that time and is not stored.
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
  const what = (): string => `everything that was acknowledged is stored; ${lost().join(', ')}`;
  await waitFor(what, async () => {
    missing = await findMissing(platform, traffic);
    return lost().length === 0;
  });
  return missing;
};

/** Waits until a number has grown for every service. @throws naming the services for which it has not, and how they last failed */
export const waitForGrowth = (
  what: string,
  traffic: Traffic,
  count: (service: string, results: Results) => number,
): Promise<void> => {
  const before = Object.entries(traffic).map(([service, sent]) => ({
    service,
    sent,
    number: count(service, sent),
  }));
  const waiting = () => before.filter(({ service, sent, number }) => count(service, sent) <= number);
  const lines = (): string[] =>
    waiting().map(({ service, sent }) => `${service} (last failure: ${sent.failures.at(-1) ?? 'none'})`);
  return waitFor(
    () => `${what}; not yet: ${lines().join(', ')}`,
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
