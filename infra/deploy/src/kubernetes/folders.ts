import { stringify } from 'yaml';
import type { Platform, Service } from '../values.ts';
import type { Manifest } from './common.ts';
import { gatewayManifests } from './gateway.ts';
import { migrationManifests } from './migration.ts';
import { serviceManifests } from './service.ts';

type Files = Record<string, Manifest[]>;

const kustomization = (files: Files, { namespace }: Platform): Manifest =>
  Object.assign(
    { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' },
    {
      namespace,
      resources: Object.keys(files),
    },
  );

/** Enforces the Pod Security Standard `restricted`, which all pods meet. */
const namespaceOf = ({ namespace }: Platform): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
});

/** All manifests by folder and file, in the order in which they are applied; each folder is a kustomize base. */
export const folders = (services: readonly Service[], platform: Platform): Record<string, Files> => {
  const migrations = Object.fromEntries(
    services.map((service) => [`${service.name}.yaml`, migrationManifests(service, platform)]),
  );
  const running = {
    ...Object.fromEntries(
      services.map((service) => [`${service.name}.yaml`, serviceManifests(service, platform)]),
    ),
    'gateway.yaml': gatewayManifests(services, platform),
  };
  const withIndex = (files: Files): Files => ({
    ...files,
    'kustomization.yaml': [kustomization(files, platform)],
  });
  return {
    namespace: withIndex({ 'namespace.yaml': [namespaceOf(platform)] }),
    migrations: withIndex(migrations),
    services: withIndex(running),
  };
};

/** A file of manifests as text. */
export const yamlOf = (documents: readonly Manifest[]): string =>
  documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n');
