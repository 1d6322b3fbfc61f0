import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyEgressRule } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyEgressRule';
import type { INetworkPolicyIngressRule } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyIngressRule';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort';
import type { Platform, Service } from '../values.ts';
import { labelsOf, metadata, port, probePort, telemetryPort, tlsPort } from './common.ts';

const tcp = (number: number): INetworkPolicyPort => ({ protocol: 'TCP', port: number });

/** The cluster's DNS pods, or the cache on the node: that one is no pod. */
const dns = ({ nodeLocalDns }: Platform): INetworkPolicyEgressRule => ({
  to: [{ namespaceSelector: {} }, { ipBlock: { cidr: `${nodeLocalDns}/32` } }],
  ports: [{ protocol: 'UDP', port: 53 }, tcp(53)],
});

const namespace = (name: string): INetworkPolicyPeer => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});

const collectorOf = ({ collector }: Platform): INetworkPolicyEgressRule[] => {
  if (collector === undefined) return [];
  const { port: given, protocol } = new URL(collector);
  return [
    { to: [{ namespaceSelector: {} }], ports: [tcp(Number(given || (protocol === 'https:' ? 443 : 80)))] },
  ];
};

const policy = (
  name: string,
  ingress: INetworkPolicyIngressRule[],
  egress: INetworkPolicyEgressRule[],
): INetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadata(name),
  spec: { podSelector: { matchLabels: labelsOf(name) }, policyTypes: ['Ingress', 'Egress'], ingress, egress },
});

/** Ingress: the gateway and Prometheus. Egress: databases, the identity provider and the systems that the service calls. */
export const serviceNetwork = (
  { name, egress }: Pick<Service, 'name' | 'egress'>,
  platform: Platform,
): INetworkPolicy => {
  const { database, redis, identityProvider } = platform.ports;
  // Addresses of these systems are in Secrets, so only the ports are known here.
  const ports = [...new Set([...database, ...redis, ...identityProvider, ...egress])].map(tcp);
  return policy(
    name,
    [
      { from: [{ podSelector: { matchLabels: labelsOf('gateway') } }], ports: [tcp(port)] },
      { from: [namespace(platform.monitoringNamespace)], ports: [tcp(probePort)] },
    ],
    [dns(platform), { ports }, ...collectorOf(platform)],
  );
};

/** Egress of a migration: the database only. */
export const migrationNetwork = (name: string, platform: Platform): INetworkPolicy =>
  policy(name, [], [dns(platform), { ports: platform.ports.database.map(tcp) }]);

/** Ingress of the gateway: everybody, or only the ingress controller; Prometheus. Egress: the services, and the collector for its spans. */
export const gatewayNetwork = (services: readonly Service[], platform: Platform): INetworkPolicy => {
  const { ingressNamespace } = platform.gateway;
  const ports = [tcp(port), ...(platform.nginx.tls ? [tcp(tlsPort)] : [])];
  return policy(
    'gateway',
    [
      { ports, ...(ingressNamespace !== undefined && { from: [namespace(ingressNamespace)] }) },
      { from: [namespace(platform.monitoringNamespace)], ports: [tcp(telemetryPort)] },
    ],
    [
      dns(platform),
      ...services.map(({ name }) => ({
        to: [{ podSelector: { matchLabels: labelsOf(name) } }],
        ports: [tcp(port)],
      })),
      ...collectorOf(platform),
    ],
  );
};
