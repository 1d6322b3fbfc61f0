import { expect, test } from 'vitest';
import type { Traffic } from '@platform/e2e/load';
import type { Deployment } from '../src/platform.ts';
import { migrateTooEarly } from '../src/rollout.ts';

const services = ['quest-service', 'store-webhooks'];

/** Migrates a platform of two services; then each service answers one more request, with these failures. */
const migrated = (traffic: Traffic, failing: readonly string[]): Promise<string[]> => {
  const answer = (): void => {
    for (const [service, { acknowledged, failures }] of Object.entries(traffic)) {
      if (failing.includes(service)) failures.push('status 500');
      else acknowledged.set(`after the migration of ${service}`, Date.now());
    }
  };
  // The last migration is followed by the requests that count.
  const compose = (command: string): Promise<string> => {
    if (command.includes(services.at(-1) ?? '')) setImmediate(answer);
    return Promise.resolve('');
  };
  return migrateTooEarly({ services, compose } as unknown as Deployment, traffic);
};

const trafficOf = (failures: Record<string, string[]> = {}): Traffic =>
  Object.fromEntries(
    services.map((service) => [
      service,
      { requests: 1, acknowledged: new Map([['before', 0]]), failures: failures[service] ?? [], slowest: 0 },
    ]),
  );

test('after migrations that came too early requests fail, and webhooks are acknowledged', async () => {
  expect(await migrated(trafficOf(), ['quest-service'])).toEqual([]);
});

test('a request that failed before the migrations is a fault, and does not count as one that fails after them', async () => {
  const traffic = trafficOf({ 'quest-service': ['status 503'] });
  expect(await migrated(traffic, ['quest-service'])).toEqual(['quest-service: status 503']);
  expect(traffic['quest-service']?.failures).toHaveLength(2);
});

test('a webhook that fails after the migrations is a fault', async () => {
  const traffic = trafficOf();
  const faults = migrated(traffic, ['quest-service', 'store-webhooks']);
  await expect.poll(() => traffic['store-webhooks']?.failures).toHaveLength(1);
  traffic['store-webhooks']?.acknowledged.set('a later one', Date.now());
  expect(await faults).toEqual(['store-webhooks after the migrations: status 500']);
});
