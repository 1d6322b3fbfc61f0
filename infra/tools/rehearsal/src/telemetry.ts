import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

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
