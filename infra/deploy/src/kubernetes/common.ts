import type { IPodSecurityContext } from 'kubernetes-models/v1/PodSecurityContext';
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements';
import type { ISecurityContext } from 'kubernetes-models/v1/SecurityContext';
import type { ITopologySpreadConstraint } from 'kubernetes-models/v1/TopologySpreadConstraint';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata?: { name?: string; labels?: Record<string, string> };
}

/** The port of every service and of the gateway. */
export const port = 8080;
/** PROBE_PORT of every service: probes and metrics. */
export const probePort = 8081;
/** Metrics of the gateway (TCP), and nginx's datagrams (UDP). */
export const telemetryPort = 9145;
/** The gateway's port for TLS. */
export const tlsPort = 8443;

export const labelsOf = (name: string): Record<string, string> => ({ 'app.kubernetes.io/name': name });

export const metadata = (name: string, of = name) => ({
  name,
  labels: { ...labelsOf(of), 'app.kubernetes.io/part-of': 'platform' },
});

export const podSecurity = (user: number): IPodSecurityContext => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  seccompProfile: { type: 'RuntimeDefault' },
});

export const containerSecurity: ISecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Annotations by which Prometheus finds a pod (observability/scrape.yaml). */
export const scrapedAt = (at: number): Record<string, string> => ({
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': String(at),
  'prometheus.io/path': '/metrics',
});

interface Sizes {
  cpu: string;
  memory: string;
  memoryLimit: string;
}

/** No CPU limit: it would delay responses while the CPU is idle. */
export const resources = ({ cpu, memory, memoryLimit }: Sizes): IResourceRequirements => ({
  requests: { cpu, memory },
  limits: { memory: memoryLimit },
});

/** Spreads replicas, so that the loss of a node or zone affects as few of them as possible. */
export const spread = (name: string): ITopologySpreadConstraint[] =>
  ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labelsOf(name) },
  }));
