import type { IEnvVar } from 'kubernetes-models/v1/EnvVar';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { Platform, Service } from '../values.ts';
import {
  containerSecurity,
  labelsOf,
  metadata,
  podSecurity,
  port,
  probePort,
  resources,
  scrapedAt,
  spread,
} from './common.ts';

const secretsFolder = '/run/secrets/platform';

export const imageOf = (name: string, { registry, tag }: Platform): string => `${registry}/${name}:${tag}`;

export const pullSecrets = ({ imagePullSecrets }: Platform): Pick<IPodSpec, 'imagePullSecrets'> =>
  imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };

/** Variables with the paths of the mounted values of a Secret. */
export const secretFiles = (names: readonly string[]): IEnvVar[] =>
  names.map((name) => ({ name: `${name}_FILE`, value: `${secretsFolder}/${name}` }));

/** Mounts each value of a Secret as a file that only the user of the pod can read. */
export const secretVolume = (secretName: string) => ({
  volume: { name: 'secrets', secret: { secretName, defaultMode: 0o440 } },
  mount: { name: 'secrets', mountPath: secretsFolder, readOnly: true },
});

export const tracing = ({ collector, traceRatio }: Platform): Record<string, string> =>
  collector === undefined
    ? {}
    : { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_TRACES_SAMPLER_ARG: String(traceRatio) };

export const variables = (values: Record<string, string>): IEnvVar[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

/** Until every node knows that a stopping pod gets no more requests; it accepts them meanwhile, and answers. */
const DRAIN_MS = 7_000;
/** With 9 s for the requests that still run then, and 1 s for idle connections. */
const SHUTDOWN_MS = DRAIN_MS + 10_000;
const MARGIN_SECONDS = 3;

const settings = (service: Service, platform: Platform): Record<string, string> => ({
  PROBE_PORT: String(probePort),
  DATABASE_POOL: String(service.pool),
  DATABASE_REPLICAS: String(service.replicas.max),
  AUTH_JWKS: platform.auth.jwks,
  AUTH_ISSUER: platform.auth.issuer,
  AUTH_AUDIENCE: platform.auth.audience,
  TRUST_PROXY: platform.podNetwork,
  DRAIN_MS: String(DRAIN_MS),
  SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_MS),
  ...tracing(platform),
  ...(service.volume && { [service.volume.variable]: service.volume.path }),
  ...service.settings,
});

const spec = (service: Service, platform: Platform): IPodSpec => {
  const { name, volume, ready } = service;
  const secret = secretVolume(name);
  const probe = (path: string, failureThreshold: number, periodSeconds = 5) => ({
    httpGet: { path, port: 'probes' },
    periodSeconds,
    timeoutSeconds: Math.min(periodSeconds, 3),
    failureThreshold,
  });
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...pullSecrets(platform),
    securityContext: podSecurity(1000),
    topologySpreadConstraints: spread(name),
    terminationGracePeriodSeconds: SHUTDOWN_MS / 1_000 + MARGIN_SECONDS,
    containers: [
      {
        name: 'service',
        image: imageOf(name, platform),
        ports: [
          { name: 'http', containerPort: port },
          { name: 'probes', containerPort: probePort },
        ],
        env: [
          ...variables(settings(service, platform)),
          // Optional values may have no file, so they are no REDIS_URL_FILE.
          ...secretFiles(service.secrets),
          ...[...service.optionalSecrets, 'REDIS_URL'].map((key) => ({
            name: key,
            valueFrom: { secretKeyRef: { name, key, optional: true } },
          })),
          // The same for all services and the gateway.
          {
            name: 'GATEWAY_SECRET',
            valueFrom: { secretKeyRef: { name: 'gateway', key: 'GATEWAY_SECRET' } },
          },
        ],
        resources: resources(service.resources),
        securityContext: containerSecurity,
        startupProbe: probe('/livez', 24),
        livenessProbe: probe('/livez', 6),
        // Seen twice within DRAIN_MS, also by load balancers that ask pods themselves.
        readinessProbe: probe(ready, 2, 3),
        volumeMounts: [secret.mount, ...(volume ? [{ name: 'data', mountPath: volume.path }] : [])],
      },
    ],
    volumes: [secret.volume],
  };
};

/** The pod template of a service. */
export const podOf = (service: Service, platform: Platform): IPodTemplateSpec => ({
  metadata: {
    labels: metadata(service.name).labels,
    annotations: scrapedAt(probePort),
  },
  spec: spec(service, platform),
});

export const selectorOf = (name: string) => ({ matchLabels: labelsOf(name) });
