import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

type Labels = Record<string, string>;

/** What Prometheus answers to a query: each series with its latest value. */
const ask = async ({ docker }: Engine, { containers }: Deployment, query: string) => {
  const container = containers['prometheus'] ?? '';
  const place = 'http://127.0.0.1:9090';
  const answer = await docker('exec', container, 'promtool', 'query', 'instant', '-o', 'json', place, query);
  return (JSON.parse(answer) as { metric: Labels; value: [number, string] }[]).map(({ metric, value }) => ({
    labels: metric,
    value: Number(value[1]),
  }));
};

/**
 * Ends nginx, and then what counts its requests: each must be seen by Prometheus, with its alert on the way, and neither may
 * take the other with it. One line for each request that failed while only the counting was away.
 */
export const rehearseMonitoring = async (engine: Engine, platform: Deployment): Promise<string[]> => {
  const { containers, gateway, services, ready } = platform;
  const [nginx = '', telemetry = ''] = [containers['gateway'], containers['gateway-telemetry']];
  const counts = async (query: string): Promise<number> => (await ask(engine, platform, query)).length;
  const counted = async (): Promise<number> =>
    (await ask(engine, platform, 'sum(gateway_requests_total)'))[0]?.value ?? 0;
  const request = (): Promise<boolean> =>
    fetch(`${gateway}/v1/quests`).then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    );
  /** Waits until requests are counted again. */
  const counting = async (): Promise<void> => {
    await waitFor('Prometheus reads a count', async () => (await counted()) > 0);
    const before = await counted();
    await waitFor('requests are counted', async () => (await request()) && (await counted()) > before);
  };
  await waitFor(
    'Prometheus reads the platform, and its probes are answered',
    async () =>
      (await counts('up{job="platform"} == 1')) >= services.length + 2 &&
      (await counts('probe_success == 1')) === services.length + 1,
  );

  await engine.docker('kill', nginx);
  const alert = 'ALERTS{alertname=~"ServiceDown|ServiceGone",service="gateway"}';
  await waitFor('an alert about the dead gateway', async () => (await counts(alert)) > 0);
  await waitFor(
    'no probe is answered',
    async () => (await counts('probe_success == 0')) === services.length + 1,
  );
  if ((await counts('up{service="gateway-telemetry"} == 1')) !== 1)
    return ['gateway-telemetry ended with the gateway'];
  await engine.docker('start', nginx);
  await ready();
  await counting();

  const faults: string[] = [];
  await engine.docker('kill', telemetry);
  // The second time nginx starts without it.
  for (const state of ['is away', 'is away, and nginx has started again']) {
    for (let sent = 0; sent < 50; sent += 1, await sleep(20))
      if (!(await request())) faults.push(`a request failed while gateway-telemetry ${state}`);
    await engine.docker('restart', nginx);
    await ready();
  }
  await engine.docker('start', telemetry);
  await counting();
  return faults;
};
