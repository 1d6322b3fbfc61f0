import { runGameServer } from '@platform/e2e/stack';
import { callEachOperation } from '@platform/openapi-tests';
import { setUp } from '@platform/openapi-tests/setup';
import { services as allServices } from '@platform/service-list';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import { imageOf, type Deployment } from './platform.ts';

/**
 * Checks that no container has root processes or capabilities, and that each has a read-only file system, a memory limit,
 * and (services) a heap limit of at most three quarters of it. Returns one line for each violation.
 */
export const findPrivileges = async (
  { docker }: Engine,
  { containers, services }: Deployment,
): Promise<string[]> => {
  const violations: string[] = [];
  for (const [name, container] of Object.entries(containers)) {
    const processes = await docker('top', container, '-eo', 'pid,uid');
    if (/\s0$/m.test(processes)) violations.push(`${name} has a process of root`);
    const status = await docker('exec', container, 'cat', '/proc/1/status');
    const lines = status.split('\n').map((line) => line.split(':\t') as [string, string]);
    const fields = Object.fromEntries(lines);
    for (const set of ['CapPrm', 'CapEff', 'CapBnd'])
      if (Number(`0x${fields[set]}`) !== 0) violations.push(`${name} has capabilities (${set})`);
    if (fields['NoNewPrivs'] !== '1') violations.push(`${name} can gain privileges`);
    const { ReadonlyRootfs, Memory: limit } = JSON.parse(
      await docker('inspect', '--format', '{{json .HostConfig}}', container),
    ) as { ReadonlyRootfs: boolean; Memory: number };
    if (!ReadonlyRootfs) violations.push(`the file system of ${name} is not read-only`);
    if (!(limit > 0)) violations.push(`${name} has no memory limit`);
    if (!services.includes(name)) continue;
    const heap = Number(
      await docker('exec', container, 'node', '-p', 'v8.getHeapStatistics().heap_size_limit'),
    );
    if (heap > 0.75 * limit) violations.push(`the heap of ${name} may take ${heap} of ${limit} bytes`);
  }
  return violations;
};

/** Returns one line for each container and image whose description contains a secret. */
export const findSecrets = async (
  { docker }: Engine,
  { containers, services, secrets }: Deployment,
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
 * Calls every operation of every OpenAPI document through the gateway until it succeeds. Returns one line for each
 * operation that never succeeds, or whose response is 5xx or differs from the document.
 */
export const findFailingOperations = async (platform: Deployment): Promise<string[]> => {
  const { access, gameServer, services } = platform;
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
 * Kills nginx and then gateway-telemetry, and checks that the metrics of the other one can still be read. Returns one line
 * for each request that fails while only gateway-telemetry is down.
 */
export const rehearseTelemetry = async (
  { docker }: Engine,
  { containers, access, services, ready }: Deployment,
): Promise<string[]> => {
  const { gateway: nginx = '', 'gateway-telemetry': telemetry = '' } = containers;
  /** Reads metrics from the container of a service, as Prometheus does; returns '' without a response. */
  const scrape = (host: string): Promise<string> => {
    const script = `console.log(await (await fetch('http://${host}/metrics')).text())`;
    const service = containers[services[0] ?? ''] ?? '';
    return docker('exec', service, 'node', '--input-type=module', '--eval', script).catch(() => '');
  };
  const isUp = async (host: string): Promise<boolean> => (await scrape(host)) !== '';
  const requestCount = async (): Promise<number> => {
    const metrics = await scrape('gateway-telemetry:9145');
    let total = 0;
    for (const [, count] of metrics.matchAll(/^gateway_requests_total\{.* (\d+)$/gm)) total += Number(count);
    return total;
  };
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
 * Deploys only two services, with the commands of docs/deploy.md. Returns one line for each of them whose probe fails, and
 * for each other service whose address does not return 404.
 */
export const rehearseSubset = async (
  gateway: string,
  { prepared, compose, runDocumented }: Pick<Deployment, 'prepared' | 'compose' | 'runDocumented'>,
): Promise<string[]> => {
  const subset = ['quest-service', 'wallet-operator'];
  await compose('down');
  await runDocumented('deploy.md', 'Some of the services', {}, [
    [`echo SERVICES=${subset.join(',')} >> .env`, `export SERVICES=${subset.join(',')}`],
    ['prepare-compose', `prepare-compose --out '${prepared}'`],
    // A build would replace the deployed version by the first one, whose sources are here.
    [' --build', ''],
  ]);
  const faults: string[] = [];
  for (const { name, deploy } of allServices) {
    const { status } = await fetch(`${gateway}${deploy.probe}`);
    const expected = subset.includes(name) ? [200, 401] : [404];
    if (!expected.includes(status))
      faults.push(`${name} responds with ${status} when two services are deployed`);
  }
  return faults;
};
