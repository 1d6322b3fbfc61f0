import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import { containerOf, type Deployment } from './platform.ts';

/** Without the node exporter, which needs a machine whose mounts are shared. */
const PROGRAMS = ['prometheus', 'alertmanager', 'blackbox'];

/** Alerts for containers that do not run; the second one if their name does not resolve either. */
const GONE = ['ServiceDown', 'ServiceGone'];

interface Labels {
  job?: string;
  service?: string;
  alertname?: string;
}
interface Target {
  labels: Labels;
  health: string;
}

/** Starts a receiver of Alertmanager on this machine. `alerts` has a line such as `ServiceDown gateway` for each alert. */
const startReceiver = async (host: string) => {
  const alerts = new Set<string>();
  const server = createServer((request, response) => {
    void json(request).then((message) => {
      for (const { labels } of (message as { alerts: { labels: Labels }[] }).alerts)
        alerts.add(`${labels.alertname} ${labels.service ?? ''}`.trim());
      response.end();
    });
  }).listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    alerts,
    url: `http://${host}:${port}/`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

/**
 * Starts the profile `monitoring` with the commands of docs/deploy.md, waits until Prometheus reads all containers and all probes
 * succeed, then freezes nginx and waits until the receiver gets the alert.
 * @throws when something does not happen, naming it
 */
export const rehearseMonitoring = async (
  engine: Engine,
  { containers, gameServer, prepared, prometheus, ready, runDocumented, services }: Deployment,
): Promise<void> => {
  await using receiver = await startReceiver(gameServer.host);
  const values = { alerts: { webhook_configs: [{ url: receiver.url }] } };
  await writeFile(join(prepared, 'values.yaml'), JSON.stringify(values));
  await runDocumented('deploy.md', 'Monitoring', { COMPOSE_PROFILES: 'monitoring' }, [
    ["printf '%s\\n' COMPOSE_PROFILES=monitoring PROMETHEUS_URL=http://prometheus:9090 >> .env", ''],
    ['prepare-compose', `prepare-compose --out '${prepared}'`],
    ['up --build --wait', `up --wait ${PROGRAMS.join(' ')}`],
  ]);
  const read = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`${prometheus}/api/v1/${path}`)).json()) as { data: T }).data;

  let missing: string[] = [];
  const isComplete = async (): Promise<boolean> => {
    const { activeTargets } = await read<{ activeTargets: Target[] }>('targets');
    const { result: probes } = await read<{ result: { metric: Labels }[] }>('query?query=probe_success==1');
    const { alerts } = await read<{ alerts: { labels: Labels }[] }>('alerts');
    const found = [
      ...activeTargets.flatMap(({ health, labels }) =>
        health === 'up' && labels.job === 'platform' ? [`target ${labels.service}`] : [],
      ),
      ...probes.map(({ metric }) => `probe ${metric.service}`),
    ];
    const names = [...services, 'gateway'];
    missing = [
      ...[...names, 'gateway-telemetry'].map((name) => `target ${name}`),
      ...names.map((name) => `probe ${name}`),
    ].filter((line) => !found.includes(line));
    return missing.length === 0 && !alerts.some(({ labels }) => GONE.includes(labels.alertname ?? ''));
  };
  await waitFor(() => `Prometheus misses ${missing.join()}, or has an alert`, isComplete);

  const nginx = containers['gateway'] ?? '';
  // The name of a killed container does not resolve, so that its alert (ServiceGone) needs two minutes more.
  await engine.docker('pause', nginx);
  const expected = ['Test', 'ServiceDown gateway'];
  await waitFor(
    () => `the receiver gets ${expected.join()}; it got ${[...receiver.alerts].join()}`,
    () => expected.every((alert) => receiver.alerts.has(alert)),
  );
  await engine.docker('unpause', nginx);
  await ready();
  // Commands without the profile would leave them in the network.
  for (const name of PROGRAMS) await engine.docker('rm', '--force', await containerOf(engine, name));
};
