import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageOptions } from '@platform/gateway/options';
import { services } from '@platform/service-list';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { prepare } from './deployment.ts';
import { root } from './service.ts';

type Labels = Record<string, string>;
interface Relabelling {
  source_labels?: string[];
  separator?: string;
  regex?: string;
  target_label?: string;
  replacement?: string;
  action?: 'keep';
}
interface Job {
  job_name: string;
  dns_sd_configs?: { names: string[]; port: number }[];
  relabel_configs: Relabelling[];
}

/** Applies the relabelling of a job to a target like Prometheus. Returns undefined if the target is dropped. */
const relabel = ({ relabel_configs }: Job, target: Labels): Labels | undefined => {
  const labels = { ...target };
  for (const step of relabel_configs) {
    const { source_labels = [], separator = ';', regex = '(.*)', replacement = '$1' } = step;
    const value = source_labels.map((name) => labels[name] ?? '').join(separator);
    const match = new RegExp(`^(?:${regex})$`).exec(value);
    if (step.action === 'keep' && match === null) return undefined;
    if (step.target_label === undefined || match === null) continue;
    labels[step.target_label] = replacement.replaceAll(
      /\$(\d)/g,
      (_, group: string) => match[Number(group)] ?? '',
    );
  }
  return labels;
};

const read = (file: string): unknown =>
  parse(readFileSync(join(root, 'infra/deploy', file), 'utf8'), { merge: true });
const names = services.map(({ name }) => name);
const [metrics = ''] = [imageOptions({ services: names }).metrics].flat();
const gatewayPort = Number(metrics.split(':').at(-1));

describe('compose', () => {
  const { scrape_configs: jobs } = read('observability/prometheus.yaml') as { scrape_configs: Job[] };
  const { services: containers } = read('compose.yaml') as {
    services: Record<string, { environment?: Record<string, unknown> }>;
  };
  const folder = mkdtempSync(join(tmpdir(), 'scrape-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('labels the series of every container with its service, and reads them at its port', () => {
    const targets = jobs.flatMap((job) =>
      (job.dns_sd_configs ?? []).flatMap(({ names: hosts, port }) =>
        hosts.map((name) => [{ ...relabel(job, { __meta_dns_name: name }) }, port] as const),
      ),
    );
    const expected = [
      ...names.map((name) => [name, 8081] as const),
      ['gateway', gatewayPort] as const,
      ['gateway-telemetry', containers['gateway-telemetry']?.environment?.['PORT']] as const,
      ['node-exporter', 9100] as const,
    ];
    expect(targets.map(([{ service, job }, port]) => [service, job, port])).toEqual(
      expected.map(([service, port]) => [service, 'platform', port]),
    );
  });

  test('probes the targets that prepare-compose writes, through the gateway', () => {
    const probes = jobs.find(({ job_name }) => job_name === 'probes');
    const written = parse(readFileSync(join(prepare(folder), 'probes.yaml'), 'utf8')) as {
      targets: [string];
      labels: Labels;
    }[];
    const certificate = { targets: ['gateway:8443'], labels: { __module: 'certificate' } };
    for (const {
      targets: [address],
      labels,
    } of [...written, certificate])
      expect(probes && relabel(probes, { ...labels, __address__: address })).toMatchObject({
        ...labels,
        __address__: 'blackbox:9115',
        __param_target: address.startsWith('/') ? `http://gateway:8082${address}` : address,
        instance: address,
      });
  });
});

describe('Kubernetes', () => {
  const jobs = read('observability/scrape.yaml') as Job[];
  const meta = (kind: string, labels: Labels): Labels =>
    Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [`__meta_kubernetes_${kind}_${name}`, value]),
    );
  const relabelAs = (name: string, labels: Labels): Labels | undefined => {
    const job = jobs.find(({ job_name }) => job_name === name);
    return job && relabel(job, { __address__: '10.1.2.3:8080', ...labels });
  };

  test('labels the series of every pod with its service, and reads them at the port of its annotation', () => {
    const pod = meta('pod', {
      label_app_kubernetes_io_part_of: 'platform',
      label_app_kubernetes_io_name: 'quest-service',
      annotation_prometheus_io_scrape: 'true',
      annotation_prometheus_io_port: '8081',
      name: 'quest-service-1',
    });
    const labels = { service: 'quest-service', instance: 'quest-service-1' };
    expect(relabelAs('platform', pod)).toMatchObject({ ...labels, __address__: '10.1.2.3:8081' });
    expect(relabelAs('platform', { ...pod, __address__: '[fd00::1]:8080' })).toMatchObject({
      __address__: '[fd00::1]:8081',
    });
    expect(relabelAs('platform', { ...pod, __meta_kubernetes_pod_annotation_prometheus_io_scrape: '' })).toBe(
      undefined,
    );
  });

  test('probes each service through the gateway of its namespace', () => {
    const service = meta('service', {
      label_app_kubernetes_io_part_of: 'platform',
      annotation_prometheus_io_probe: '/v1/quests',
      name: 'quest-service',
    });
    expect(relabelAs('probes', { ...service, __meta_kubernetes_namespace: 'shop' })).toMatchObject({
      service: 'quest-service',
      instance: '/v1/quests',
      __param_target: 'http://gateway-inner.shop.svc:8082/v1/quests',
    });
  });
});
