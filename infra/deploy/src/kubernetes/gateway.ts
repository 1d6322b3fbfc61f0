import { createHash } from 'node:crypto';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IService } from 'kubernetes-models/v1/Service';
import { renderConfig } from '@platform/gateway/config';
import type { Platform, Service } from '../values.ts';
import {
  containerSecurity,
  metadata,
  podSecurity,
  port,
  resources,
  scrapedAt,
  spread,
  telemetryPort,
  tlsPort,
  type Manifest,
} from './common.ts';
import { gatewayNetwork } from './network.ts';
import { imageOf, pullSecrets, secretFiles, secretVolume, selectorOf, tracing, variables } from './pod.ts';
import { autoscaler, disruptionBudget } from './scaling.ts';
import { clusterAddress } from './service.ts';

const runDir = '/tmp/nginx';

/** tls.crt and tls.key, as in a Secret of the type kubernetes.io/tls. */
const tlsFolder = '/etc/gateway-tls';

/** Configuration files for the gateway's image, where each service is found by its name. `telemetry`: nginx sends a datagram for each request. */
export const gatewayConfig = (
  services: readonly Pick<Service, 'name'>[],
  { ipv6, tls, ...options }: Platform['nginx'],
  telemetry: boolean,
): Record<string, string> => {
  const listenOn = (at: number): string[] => [`*:${at}`, ...(ipv6 ? [`[::]:${at}`] : [])];
  const certificate = { certificate: `${tlsFolder}/tls.crt`, key: `${tlsFolder}/tls.key` };
  return renderConfig({
    ...options,
    listen: listenOn(port),
    ...(tls && { tls: { listen: listenOn(tlsPort), ...certificate, ...tls } }),
    upstreams: Object.fromEntries(services.map(({ name }) => [name, `${name}:${port}`])),
    runDir,
    docsDir: '/usr/share/portal',
    secretFile: `${runDir}/gateway-secret.conf`,
    workers: 2,
    ...(telemetry && { telemetry: `127.0.0.1:${telemetryPort}` }),
  });
};

/** For an Ingress, or, with TLS, for clients. */
const gatewayAddress = ({ gateway, nginx: { ipv6, tls } }: Platform): IService => {
  const address = clusterAddress('gateway');
  const spec: IService['spec'] = {
    ...address.spec,
    type: gateway.serviceType,
    // Nodes that pass connections on would replace the addresses of clients by their own.
    ...(gateway.serviceType !== 'ClusterIP' && { externalTrafficPolicy: 'Local' as const }),
    ...(ipv6 && { ipFamilyPolicy: 'PreferDualStack' }),
    ...(tls && {
      ports: [
        { name: 'http', port: 80, targetPort: 'http' },
        { name: 'https', port: 443, targetPort: 'https' },
      ],
    }),
  };
  return { ...address, spec };
};

/** In the same pod as nginx, so that the address is valid even when nothing listens. */
const telemetryContainer = (platform: Platform): IContainer => ({
  name: 'telemetry',
  image: imageOf('gateway-telemetry', platform),
  env: variables({ HOST: '0.0.0.0', PORT: String(telemetryPort), ...tracing(platform) }),
  ports: [{ name: 'metrics', containerPort: telemetryPort }],
  livenessProbe: { httpGet: { path: '/livez', port: 'metrics' }, periodSeconds: 10, timeoutSeconds: 3 },
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '512Mi' } },
  securityContext: containerSecurity,
});

/** The gateway, its configuration, and the container for its metrics and spans. */
export const gatewayManifests = (services: readonly Service[], platform: Platform): Manifest[] => {
  const { replicas, resources: sizes } = platform.gateway;
  const data = gatewayConfig(services, platform.nginx, true);
  const probe = { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 5, timeoutSeconds: 3 };
  const secret = secretVolume('gateway');
  const { tls } = platform.nginx;
  const certificate = {
    volume: { name: 'tls', secret: { secretName: 'gateway-tls', defaultMode: 0o440 } },
    mount: { name: 'tls', mountPath: tlsFolder, readOnly: true },
  };
  const config: IConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('gateway'),
    data,
  };
  const deployment: IDeployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata('gateway'),
    spec: {
      selector: selectorOf('gateway'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        // A changed configuration replaces the pods.
        metadata: {
          labels: metadata('gateway').labels,
          annotations: {
            ...scrapedAt(telemetryPort),
            'platform/config': createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 16),
          },
        },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...pullSecrets(platform),
          securityContext: podSecurity(101),
          topologySpreadConstraints: spread('gateway'),
          terminationGracePeriodSeconds: 45,
          containers: [
            {
              name: 'nginx',
              image: imageOf('gateway', platform),
              ports: [
                { name: 'http', containerPort: port },
                ...(tls ? [{ name: 'https', containerPort: tlsPort }] : []),
              ],
              resources: resources(sizes),
              securityContext: containerSecurity,
              livenessProbe: probe,
              readinessProbe: probe,
              // Waits until no more requests arrive; then running ones may end (SIGQUIT, the stop signal of the image).
              lifecycle: { preStop: { sleep: { seconds: 5 } } },
              env: secretFiles(['GATEWAY_SECRET']),
              volumeMounts: [
                secret.mount,
                { name: 'config', mountPath: '/etc/gateway', readOnly: true },
                { name: 'run', mountPath: runDir },
                ...(tls ? [certificate.mount] : []),
              ],
            },
            telemetryContainer(platform),
          ],
          volumes: [
            { name: 'config', configMap: { name: 'gateway' } },
            secret.volume,
            ...(tls ? [certificate.volume] : []),
            // The pid and the secret; bodies are streamed, never stored.
            { name: 'run', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
          ],
        },
      },
    },
  };
  return [
    config,
    deployment,
    gatewayAddress(platform),
    autoscaler('gateway', replicas),
    disruptionBudget('gateway'),
    gatewayNetwork(services, platform),
  ];
};
