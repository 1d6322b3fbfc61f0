import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyEgressRule } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyEgressRule';
import type { INetworkPolicyIngressRule } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyIngressRule';
import type { INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort';
import type { Platform, Service } from '../values.ts';
import { labelsOf, metadata, port } from './common.ts';

const tcp = (number: number): INetworkPolicyPort => ({ protocol: 'TCP', port: number });

const dns: INetworkPolicyEgressRule = {
  to: [{ namespaceSelector: {} }],
  ports: [{ protocol: 'UDP', port: 53 }, tcp(53)],
};

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

/** The addresses of database and Redis are in the secrets; the ports are their standard ports. */
const databases: INetworkPolicyEgressRule = { ports: [tcp(5432), tcp(6379)] };

/** Ingress: the gateway and Prometheus. Egress: databases, the identity provider and the systems that the service calls. */
export const serviceNetwork = (
  { name, egress }: Pick<Service, 'name' | 'egress'>,
  platform: Platform,
): INetworkPolicy => {
  const monitoring = { 'kubernetes.io/metadata.name': platform.monitoringNamespace };
  const outside = [...new Set([443, ...egress])].map(tcp);
  return policy(
    name,
    [
      {
        from: [
          { podSelector: { matchLabels: labelsOf('gateway') } },
          { namespaceSelector: { matchLabels: monitoring } },
        ],
        ports: [tcp(port)],
      },
    ],
    [dns, databases, { ports: outside }, ...collectorOf(platform)],
  );
};

/** Egress of a migration: the database only. */
export const migrationNetwork = (name: string): INetworkPolicy =>
  policy(name, [], [dns, { ports: [tcp(5432)] }]);

/** Ingress of the gateway: everybody. Egress: the services, and the collector for its spans. */
export const gatewayNetwork = (services: readonly Service[], platform: Platform): INetworkPolicy =>
  policy(
    'gateway',
    [{ ports: [tcp(port)] }],
    [
      dns,
      ...services.map(({ name }) => ({
        to: [{ podSelector: { matchLabels: labelsOf(name) } }],
        ports: [tcp(port)],
      })),
      ...collectorOf(platform),
    ],
  );
