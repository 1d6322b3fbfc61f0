import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@platform/e2e/wait';
import { services } from '@platform/service-list';
import { parse, stringify } from 'yaml';
import { inherited } from '../../env.ts';

/** An alert as Prometheus shows it. */
export interface FiringAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface Monitoring extends AsyncDisposable {
  /** The alerts that fire now. */
  firing: () => Promise<FiringAlert[]>;
  /** Lets Prometheus find this service or not, as the name server of compose does. */
  discover: (service: string, isThere: boolean) => Promise<void>;
}

interface Options {
  /** Empty; for the configuration and the data. */
  folder: string;
  /** Times in the rules are divided by it. */
  factor: number;
  /** `host:port` of the metrics of each service, of `gateway`, `gateway-telemetry` and `standby`. */
  targets: Record<string, string>;
  /** Address of the gateway. */
  gateway: string;
  /** `host:port` at which the gateway terminates TLS. */
  tls: string;
  /** Ports of Prometheus, of the blackbox exporter and of the node exporter. */
  ports: [number, number, number];
}

const observability = join(import.meta.dirname, '../../../observability');
const seconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Divides every range (`[5m]`) of an expression, or a duration (`5m`), by the factor. */
const shorten = (text: string, factor: number): string =>
  text.replaceAll(/(?<=^|\[)(\d+)([smhd])(?=\]|$)/g, (_, count: string, unit: string) => {
    const ms = (Number(count) * (seconds[unit] ?? 1) * 1000) / factor;
    return `${Math.round(ms)}ms`;
  });

/** The rules with times that are shorter by the factor; thresholds stay. */
const shorterRules = async (file: string, factor: number): Promise<object> => {
  const content = parse(await readFile(join(observability, file), 'utf8')) as {
    groups: { rules: { expr: string; for?: string }[] }[];
  };
  for (const { rules } of content.groups)
    for (const rule of rules) {
      rule.expr = shorten(rule.expr, factor);
      if (rule.for !== undefined) rule.for = shorten(rule.for, factor);
    }
  return content;
};

interface ScrapeConfig {
  job_name: string;
  scrape_interval?: string;
  dns_sd_configs?: { names: string[] }[];
  file_sd_configs?: object[];
  relabel_configs: { replacement?: string }[];
}

/**
 * The configuration of compose for processes on this machine: files in place of the name server, which give the same label
 * `__meta_dns_name`, other addresses, and a scrape each second.
 */
const localConfig = async ({ folder, gateway, ports }: Options): Promise<object> => {
  const config = parse(await readFile(join(observability, 'prometheus.yaml'), 'utf8'), { merge: true }) as {
    rule_files: string[];
    scrape_configs: ScrapeConfig[];
  };
  for (const scrape of config.scrape_configs) {
    if (scrape.scrape_interval !== undefined) scrape.scrape_interval = '2s';
    if (scrape.dns_sd_configs) {
      scrape.file_sd_configs = [
        {
          files: scrape.dns_sd_configs
            .flatMap(({ names }) => names)
            .map((name) => join(folder, `${name}.targets.yaml`)),
          refresh_interval: '1s',
        },
      ];
      delete scrape.dns_sd_configs;
    } else scrape.file_sd_configs = [{ files: [join(folder, 'probes.yaml')], refresh_interval: '1s' }];
    for (const rule of scrape.relabel_configs)
      rule.replacement =
        rule.replacement
          ?.replace('http://gateway:8082', gateway)
          .replace('blackbox:9115', `127.0.0.1:${ports[1]}`) ?? '$1';
  }
  return {
    ...config,
    // Of which compose knows nothing.
    scrape_configs: [
      ...config.scrape_configs,
      {
        job_name: 'standby',
        file_sd_configs: [{ files: [join(folder, 'standby.targets.yaml')], refresh_interval: '1s' }],
        relabel_configs: [{ target_label: 'server', replacement: 'standby' }],
      },
    ],
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
  };
};

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  await ended;
};

/** Starts Prometheus, a blackbox exporter and a node exporter, which must be in the PATH, with the rules of infra/deploy/observability. */
export const startMonitoring = async (options: Options): Promise<Monitoring> => {
  const { folder, factor, ports } = options;
  const targets: Record<string, string> = { ...options.targets, 'node-exporter': `127.0.0.1:${ports[2]}` };
  const url = `http://127.0.0.1:${ports[0]}`;
  const write = (file: string, content: unknown) => writeFile(join(folder, file), stringify(content));
  const discover = (name: string, isThere: boolean) =>
    write(
      `${name}.targets.yaml`,
      isThere ? [{ targets: [targets[name]], labels: { __meta_dns_name: name } }] : [],
    );
  for (const name of Object.keys(targets)) await discover(name, name !== 'standby');
  await write('probes.yaml', [
    { targets: ['/healthz'], labels: { service: 'gateway' } },
    ...services.map(({ name, deploy }) => ({ targets: [deploy.probe], labels: { service: name } })),
    { targets: [options.tls], labels: { service: 'gateway', __module: 'certificate' } },
  ]);
  for (const file of ['objectives.yaml', 'alerts.yaml']) await write(file, await shorterRules(file, factor));
  await write('prometheus.yaml', await localConfig(options));
  await mkdir(join(folder, 'metrics'));
  await using started = new AsyncDisposableStack();
  const run = (program: string, args: string[]) => {
    const child = spawn(program, args, { env: inherited, cwd: folder, stdio: 'inherit' });
    started.defer(() => stop(child));
  };
  run('prometheus-node-exporter', [
    '--collector.disable-defaults',
    '--collector.filesystem',
    '--collector.textfile',
    `--collector.textfile.directory=${join(folder, 'metrics')}`,
    `--web.listen-address=127.0.0.1:${ports[2]}`,
    '--log.level=error',
  ]);
  run('prometheus-blackbox-exporter', [
    `--config.file=${join(observability, 'blackbox.yaml')}`,
    `--web.listen-address=127.0.0.1:${ports[1]}`,
    '--log.level=error',
  ]);
  run('prometheus', [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${ports[0]}`,
    '--log.level=error',
  ]);
  await waitFor(
    'Prometheus is ready',
    async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true,
  );
  const owned = started.move();
  return {
    discover,
    firing: async () => {
      // A kept connection may just be closed.
      const response = await fetch(`${url}/api/v1/alerts`, { headers: { Connection: 'close' } });
      const { data } = (await response.json()) as {
        data: { alerts: (FiringAlert & { state: string })[] };
      };
      return data.alerts.filter(({ state }) => state === 'firing');
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
