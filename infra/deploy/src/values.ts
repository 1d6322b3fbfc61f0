import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
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

const PlatformValues = z.strictObject({
  registry: z.string(),
  tag: z.string(),
  namespace: z.string(),
  auth: z.strictObject({ jwks: z.url(), issuer: z.string(), audience: z.string() }),
  connections: z.int(),
  podNetwork: z.string(),
  monitoringNamespace: z.string(),
  collector: z.url().optional(),
  traceRatio: z.number().min(0).max(1).default(1),
  gateway: z.strictObject({
    replicas: Replicas,
    resources: Resources,
    serviceType: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
    trustedProxies: z.array(z.string()),
  }),
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

/** Settings of the platform: values/platform.yaml, overridden by `files` in their order. Throws naming what is wrong. */
export const readPlatform = (files: readonly string[] = []): Platform =>
  PlatformValues.parse(
    Object.assign({}, ...[join(folder, 'platform.yaml'), ...files].map((file) => read(file))),
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
