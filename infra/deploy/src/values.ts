import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { defaultTimeouts, type Timeouts } from '@platform/gateway/options';
import { z } from 'zod';

export const root = new URL('../../..', import.meta.url).pathname;
const folder = join(root, 'infra/deploy/values');

/** cpu: utilization in percent of the request above which more replicas start. */
const Replicas = z.strictObject({
  min: z.int().min(1),
  max: z.int().min(1),
  cpu: z.int().min(1).max(100),
});
/** Kubernetes quantities; memory is that of an idle replica with a margin, memoryLimit the maximum. */
const Resources = z.strictObject({ cpu: z.string(), memory: z.string(), memoryLimit: z.string() });

const ServiceValues = z.strictObject({
  replicas: Replicas,
  resources: Resources,
  /** DATABASE_POOL. */
  pool: z.int().min(1),
  /** Connections of a replica outside the pool. */
  connectionsBesidePool: z.int().min(0).default(0),
  /** Path of the readiness probe. */
  ready: z.string().default('/readyz'),
  /** A volume for each replica, and the variable with its path. */
  volume: z.strictObject({ variable: z.string(), path: z.string(), size: z.string() }).optional(),
  settings: z.record(z.string(), z.string()).default({}),
  /** Ports of external systems that it calls. */
  egress: z.array(z.int()).default([]),
  /** Optional secrets. */
  optionalSecrets: z.array(z.string()).default([]),
});

const Gateway = z.strictObject({
  replicas: Replicas,
  resources: Resources,
  serviceType: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
  /** Only pods of this namespace (the ingress controller's) may reach the gateway. Without it everybody may. */
  ingressNamespace: z.string().optional(),
});

/** Options of infra/gateway, which describes and checks them. */
const Nginx = z.strictObject({
  trustedProxies: z.array(z.string()),
  /** CORS_ORIGINS of the services, for what the gateway refuses itself. */
  corsOrigins: z.array(z.string()).exactOptional(),
  requestLog: z.enum(['all', 'failures']).exactOptional(),
  connectionsPerClient: z.int().exactOptional(),
  rateLimit: z.strictObject({ perSecond: z.int(), burst: z.int() }).exactOptional(),
  timeouts: z
    .partialRecord(z.enum(Object.keys(defaultTimeouts) as (keyof Timeouts)[]), z.int())
    .exactOptional(),
  resolver: z.string().exactOptional(),
  /** Listens on IPv6 addresses, too. */
  ipv6: z.boolean().exactOptional(),
  /** The gateway terminates TLS itself, and redirects requests without it to this address. */
  tls: z.strictObject({ redirectTo: z.url({ protocol: /^https$/ }) }).exactOptional(),
});

/** TCP ports that pods may connect to. */
const Ports = z.strictObject({
  database: z.array(z.int()),
  redis: z.array(z.int()),
  identityProvider: z.array(z.int()),
});

const PlatformValues = z.strictObject({
  registry: z.string(),
  tag: z.string(),
  namespace: z.string(),
  /** Secrets of type kubernetes.io/dockerconfigjson. */
  imagePullSecrets: z.array(z.string()).default([]),
  auth: z.strictObject({ jwks: z.url(), issuer: z.string(), audience: z.string() }),
  connections: z.int(),
  ports: Ports,
  /** Address of NodeLocal DNSCache. */
  nodeLocalDns: z.ipv4(),
  podNetwork: z.string(),
  monitoringNamespace: z.string(),
  collector: z.url().optional(),
  traceRatio: z.number().min(0).max(1).default(1),
  gateway: Gateway,
  nginx: Nginx,
});

/** Values of the Helm chart. The options of nginx are in its configuration, which is rendered with the chart. */
export const ChartValues = PlatformValues.omit({ namespace: true, connections: true, nginx: true }).extend({
  services: z.record(
    z.string(),
    ServiceValues.omit({ connectionsBesidePool: true }).extend({ secrets: z.array(z.string()) }),
  ),
});

export type Platform = z.output<typeof PlatformValues>;

export interface Service extends z.output<typeof ServiceValues> {
  name: string;
  /** Variables that are secret, the run-time role's DATABASE_URL first. */
  secrets: string[];
  /** Scopes that its routes require. */
  scopes: string[];
}

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'));

/** Values of the second override those of the first; groups such as `gateway` are merged. */
const merge = (one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> => {
  const merged = { ...one, ...other };
  for (const group of ['auth', 'ports', 'gateway', 'nginx'])
    merged[group] = Object.assign({}, one[group], other[group]);
  return merged;
};

/** Settings of the platform: values/platform.yaml, overridden by `files` in their order. Throws naming what is wrong. */
export const readPlatform = (files: readonly string[] = []): Platform =>
  PlatformValues.parse(
    [join(folder, 'platform.yaml'), ...files]
      .map((file) => read(file) as Record<string, unknown>)
      .reduce(merge),
  );

interface Manifest {
  platform: { secrets?: string[]; keys?: string[]; scopes?: string[] };
}

/** The services that have a values file; their package.json names the secrets. */
export const readServices = (): Service[] =>
  readdirSync(folder)
    .filter((file) => file !== 'platform.yaml')
    .map((file) => {
      const name = file.replace('.yaml', '');
      const manifest = readFileSync(join(root, 'services', name, 'package.json'), 'utf8');
      const { platform } = JSON.parse(manifest) as Manifest;
      const secrets = ['DATABASE_URL', ...(platform.secrets ?? []), ...(platform.keys ?? [])];
      return {
        name,
        secrets,
        scopes: platform.scopes ?? [],
        ...ServiceValues.parse(read(join(folder, file))),
      };
    });
