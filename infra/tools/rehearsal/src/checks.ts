import { runGameServer } from '@platform/e2e/stack';
import { callEachOperation } from '@platform/openapi-tests';
import { arrange } from '@platform/openapi-tests/place';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

/**
 * What every container must satisfy: no root, no capability, a read-only file system, a heap limit of at most three quarters of the memory limit.
 * One line for each that does not.
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

/** The containers and images whose description contains a secret. */
export const findSecrets = async (
  { docker }: Engine,
  { containers, services, imageOf, secrets }: Deployment,
): Promise<string[]> => {
  const described = Object.values(containers).map(async (name) => [name, await docker('inspect', name)]);
  const images = [...services, 'gateway'].map((name) => `${imageOf(name)}:latest`);
  const built = images.map(async (name) => [
    name,
    `${await docker('inspect', name)}${await docker('history', '--no-trunc', name)}`,
  ]);
  return (await Promise.all([...described, ...built]))
    .filter(([, text]) => secrets.some((secret) => text?.includes(secret)))
    .map(([name]) => `docker inspect shows a secret of ${name}`);
};

/**
 * Calls every operation of every OpenAPI document through the gateway until it succeeds. One line for each that answered
 * 5xx or what its document lacks, or that never succeeded.
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
    const arranged = await arrange(service, { url: gateway, token: demo.adminToken, hmacSecret, waitFor });
    const subject = { url: gateway, documentPath: `/openapi/${service}.json`, ...arranged };
    for (const fault of await callEachOperation(subject)) faults.push(`${service}: ${fault}`);
  }
  return faults;
};

/**
 * Ends nginx, and then what counts its requests, and reads their metrics as Prometheus does: the one that ended must not
 * answer, and the other one must. One line for each request that failed while only the counting was away.
 */
export const rehearseTelemetry = async (
  { docker }: Engine,
  { containers, gateway, services, ready }: Deployment,
): Promise<string[]> => {
  const [nginx = '', telemetry = ''] = [containers['gateway'], containers['gateway-telemetry']];
  /** A page of metrics, read from the container of a service; empty when nobody answers. */
  const scrape = (place: string): Promise<string> => {
    const script = `console.log(await (await fetch('http://${place}/metrics')).text())`;
    const service = containers[services[0] ?? ''] ?? '';
    return docker('exec', service, 'node', '--input-type=module', '--eval', script).catch(() => '');
  };
  const isUp = async (place: string): Promise<boolean> => (await scrape(place)) !== '';
  const counted = async (): Promise<number> =>
    [...(await scrape('gateway-telemetry:9145')).matchAll(/^gateway_requests_total\{.* (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  const request = (): Promise<boolean> =>
    fetch(`${gateway}/v1/quests`).then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    );
  const counting = async (): Promise<void> => {
    const before = await counted();
    await waitFor('requests are counted', async () => (await request()) && (await counted()) > before);
  };

  await counting();
  await docker('kill', nginx);
  await waitFor('the gateway does not answer', async () => !(await isUp('gateway:9146')));
  if (!(await isUp('gateway-telemetry:9145'))) return ['gateway-telemetry ended with the gateway'];
  await docker('start', nginx);
  await ready();
  await counting();

  const faults: string[] = [];
  await docker('kill', telemetry);
  for (const state of ['is away', 'is away, and nginx has started again']) {
    for (let sent = 0; sent < 50; sent += 1)
      if (!(await request())) faults.push(`a request failed while gateway-telemetry ${state}`);
    await docker('restart', nginx);
    await ready();
  }
  await docker('start', telemetry);
  await counting();
  return faults;
};
