import { runGameServer } from '@platform/e2e/stack';
import { callEachOperation } from '@platform/openapi-tests';
import { setUp } from '@platform/openapi-tests/setup';
import { services as allServices } from '@platform/service-list';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

/**
 * Checks that every container has no root process, no capability, a read-only file system, and a heap limit of at most
 * three quarters of its memory limit. One line for each violation.
 */
export const findPrivileges = async (
  { docker }: Engine,
  { containers, services }: Deployment,
): Promise<string[]> => {
  const faults: string[] = [];
  for (const [name, container] of Object.entries(containers)) {
    const processes = await docker('top', container, '-eo', 'pid,uid');
    if (/\s0$/m.test(processes)) faults.push(`${name} has a process of root`);
    const status = (await docker('exec', container, 'cat', '/proc/1/status')).split('\n');
    const field = (key: string): string | undefined =>
      status
        .find((line) => line.startsWith(`${key}:`))
        ?.slice(key.length + 1)
        .trim();
    for (const set of ['CapPrm', 'CapEff', 'CapBnd'])
      if (Number(`0x${field(set)}`) !== 0) faults.push(`${name} has capabilities (${set})`);
    if (field('NoNewPrivs') !== '1') faults.push(`${name} can gain privileges`);
    const { ReadonlyRootfs, Memory: limit } = JSON.parse(
      await docker('inspect', '--format', '{{json .HostConfig}}', container),
    ) as { ReadonlyRootfs: boolean; Memory: number };
    if (!ReadonlyRootfs) faults.push(`the file system of ${name} is not read-only`);
    if (!(limit > 0)) faults.push(`${name} has no memory limit`);
    if (!services.includes(name)) continue;
    const heap = Number(
      await docker('exec', container, 'node', '-p', 'v8.getHeapStatistics().heap_size_limit'),
    );
    if (heap > 0.75 * limit) faults.push(`the heap of ${name} may take ${heap} of ${limit} bytes`);
  }
  return faults;
};

/** One line for each container and image whose description contains a secret. */
export const findSecrets = async (
  { docker }: Engine,
  { containers, services, imageOf, secrets }: Deployment,
): Promise<string[]> => {
  const containerTexts = Object.values(containers).map(async (name) => [name, await docker('inspect', name)]);
  const images = [...services, 'gateway'].map((name) => `${imageOf(name)}:latest`);
  const imageTexts = images.map(async (name) => [
    name,
    `${await docker('inspect', name)}${await docker('history', '--no-trunc', name)}`,
  ]);
  return (await Promise.all([...containerTexts, ...imageTexts]))
    .filter(([, text]) => secrets.some((secret) => text?.includes(secret)))
    .map(([name]) => `docker inspect shows a secret of ${name}`);
};

/**
 * Calls every operation of every OpenAPI document through the gateway until it succeeds. One line for each operation with a
 * response that is 5xx or differs from its document, or that never succeeded.
 */
export const findFailingOperations = async ({
  access,
  gameServer,
  services,
}: Pick<Deployment, 'access' | 'gameServer' | 'services'>): Promise<string[]> => {
  const { gateway, demo } = access;
  const { hmacSecret } = demo.wallet;
  await using _game = runGameServer(gameServer, gateway, hmacSecret, 0);
  const faults: string[] = [];
  for (const service of services) {
    const setup = await setUp(service, { url: gateway, token: demo.adminToken, hmacSecret, waitFor });
    const subject = { url: gateway, documentPath: `/openapi/${service}.json`, ...setup };
    for (const fault of await callEachOperation(subject)) faults.push(`${service}: ${fault}`);
  }
  return faults;
};

/**
 * Kills nginx and then gateway-telemetry, and scrapes both like Prometheus: the killed one must not answer, and the other
 * one must. One line for each request that fails while only gateway-telemetry is down.
 */
export const rehearseTelemetry = async (
  { docker }: Engine,
  { containers, access, services, ready }: Deployment,
): Promise<string[]> => {
  const [nginx = '', telemetry = ''] = [containers['gateway'], containers['gateway-telemetry']];
  /** Reads metrics from the container of a service; empty without a response. */
  const scrape = (host: string): Promise<string> => {
    const script = `console.log(await (await fetch('http://${host}/metrics')).text())`;
    const service = containers[services[0] ?? ''] ?? '';
    return docker('exec', service, 'node', '--input-type=module', '--eval', script).catch(() => '');
  };
  const isUp = async (host: string): Promise<boolean> => (await scrape(host)) !== '';
  const requestCount = async (): Promise<number> =>
    [...(await scrape('gateway-telemetry:9145')).matchAll(/^gateway_requests_total\{.* (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  const request = (): Promise<boolean> =>
    fetch(`${access.gateway}/v1/quests`).then(
      async (response) => (await response.text()) !== '' && response.ok,
      () => false,
    );
  const waitUntilCounted = async (): Promise<void> => {
    const before = await requestCount();
    await waitFor('requests are counted', async () => (await request()) && (await requestCount()) > before);
  };

  await waitUntilCounted();
  await docker('kill', nginx);
  await waitFor('the gateway does not answer', async () => !(await isUp('gateway:9146')));
  if (!(await isUp('gateway-telemetry:9145'))) return ['gateway-telemetry stopped with the gateway'];
  await docker('start', nginx);
  await ready();
  await waitUntilCounted();

  const faults: string[] = [];
  await docker('kill', telemetry);
  for (const state of ['is down', 'is down, and nginx has started again']) {
    for (let sent = 0; sent < 50; sent += 1)
      if (!(await request())) faults.push(`a request failed while gateway-telemetry ${state}`);
    await docker('restart', nginx);
    await ready();
  }
  await docker('start', telemetry);
  await waitUntilCounted();
  return faults;
};

/**
 * Deploys two services alone, with the commands of docs/deploy.md. One line for each service that does not respond to the request
 * of the probe, and for each of the others whose address does not return 404.
 */
export const rehearseSubset = async ({
  gateway,
  prepared,
  compose,
  runDocumented,
}: Pick<Deployment, 'gateway' | 'prepared' | 'compose' | 'runDocumented'>): Promise<string[]> => {
  const subset = ['quest-service', 'wallet-operator'];
  await compose('down');
  await runDocumented('deploy.md', 'Some of the services', {}, [
    [`echo SERVICES=${subset.join(',')} >> infra/deploy/.env`, `export SERVICES=${subset.join(',')}`],
    ['prepare-compose', `prepare-compose --out '${prepared}'`],
    ['infra/deploy/prepared/', `${prepared}/`],
    // The images of the version that is deployed exist; the sources are those of the first version.
    [' --build', ''],
  ]);
  const checked = allServices.map(async ({ name, deploy }) => {
    const { status } = await fetch(`${gateway}${deploy.probe}`);
    const expected = subset.includes(name) ? [200, 401] : [404];
    return expected.includes(status)
      ? []
      : [`${name} responds with ${status} when two services are deployed`];
  });
  return (await Promise.all(checked)).flat();
};
