import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IService } from 'kubernetes-models/v1/Service';
import type { Platform, Service } from '../values.ts';
import { labelsOf, metadata, port, type Manifest } from './common.ts';
import { serviceNetwork } from './network.ts';
import { podOf, selectorOf } from './pod.ts';
import { autoscaler, disruptionBudget } from './scaling.ts';

/** Starts new replicas before it stops old ones, so that a rollout never has fewer than configured. */
const deployment = (service: Service, platform: Platform): IDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata(service.name),
  spec: {
    selector: selectorOf(service.name),
    revisionHistoryLimit: 5,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: podOf(service, platform),
  },
});

/**
 * For a service with a volume: a restarted replica gets its own volume again. The number of replicas is fixed: removing one
 * would leave acknowledged webhooks on a volume that no process reads.
 */
const statefulSet = (service: Service, platform: Platform, size: string): IStatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata(service.name),
  spec: {
    serviceName: service.name,
    replicas: service.replicas.max,
    selector: selectorOf(service.name),
    podManagementPolicy: 'Parallel',
    template: podOf(service, platform),
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
      },
    ],
    // Kept after scaling down: the volume may contain acknowledged webhooks that are not stored yet.
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Retain' },
  },
});

export const clusterAddress = (name: string): IService => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name),
  spec: { type: 'ClusterIP', selector: labelsOf(name), ports: [{ name: 'http', port, targetPort: 'http' }] },
});

/** All manifests of a service except its migration and its Secret. */
export const serviceManifests = (service: Service, platform: Platform): Manifest[] => {
  const { name, volume, replicas } = service;
  return [
    volume ? statefulSet(service, platform, volume.size) : deployment(service, platform),
    clusterAddress(name),
    ...(volume ? [] : [autoscaler(name, replicas)]),
    disruptionBudget(name),
    serviceNetwork(service, platform),
  ];
};
