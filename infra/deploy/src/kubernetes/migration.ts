import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { Platform, Service } from '../values.ts';
import { containerSecurity, metadata, podSecurity, type Manifest } from './common.ts';
import { migrationNetwork } from './network.ts';
import { imageOf, pullSecrets, secretFiles, secretVolume } from './pod.ts';

/** A Job can't be changed, so each version has one of its own. */
const jobName = (name: string, tag: string): string =>
  `${name}-migrate-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 63).replace(/-{1,2}$/, '');

/** Migrates the tables of a service as their owner; the service itself never has that password. */
export const migrationManifests = ({ name }: Service, platform: Platform): Manifest[] => {
  const secret = secretVolume(`${name}-owner`);
  const app = `${name}-migrate`;
  const job: IJob = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...metadata(jobName(name, platform.tag), app),
      labels: { ...metadata(app).labels, 'app.kubernetes.io/version': platform.tag },
      // Argo CD runs it before it changes the services; everything else ignores the annotations.
      annotations: {
        'argocd.argoproj.io/hook': 'PreSync',
        'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
      },
    },
    spec: {
      backoffLimit: 3,
      activeDeadlineSeconds: 900,
      ttlSecondsAfterFinished: 86_400,
      template: {
        metadata: { labels: metadata(app).labels },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...pullSecrets(platform),
          securityContext: podSecurity(1000),
          containers: [
            {
              name: 'migrate',
              image: imageOf(name, platform),
              args: ['node', 'src/migrate.ts'],
              env: secretFiles(['MIGRATION_DATABASE_URL']),
              resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
              securityContext: containerSecurity,
              volumeMounts: [secret.mount],
            },
          ],
          volumes: [secret.volume],
        },
      },
    },
  };
  return [job, migrationNetwork(app, platform)];
};
