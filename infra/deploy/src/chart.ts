import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { parseAllDocuments } from 'yaml';
import { helm } from './helm.ts';

const folder = join(import.meta.dirname, '..');

const models = {
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
};

/** A manifest, as it is read from YAML. */
export interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

/** The documents of a YAML text that are not empty. */
export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

/**
 * What helm makes of the chart with other values than the default ones; `example` names a file in infra/deploy/examples.
 * @throws when the values are wrong
 */
export const renderChart = async (
  values: Record<string, unknown> = {},
  example?: string,
): Promise<Manifest[]> => {
  const args = Object.entries(values).flatMap(([name, value]) => [
    '--set-json',
    `${name}=${JSON.stringify(value)}`,
  ]);
  if (example !== undefined) args.push('--values', join(folder, 'examples', `${example}.yaml`));
  return manifestsIn(await helm('template', 'platform', join(folder, 'chart'), ...args));
};

/** Checks a manifest by the schemas of Kubernetes' own OpenAPI document. @throws saying what is wrong */
export const validateManifest = (manifest: Manifest): void => {
  if (!(manifest.kind in models)) throw new Error(`${manifest.kind} is not known here`);
  const Model = models[manifest.kind as keyof typeof models] as typeof Deployment;
  new Model(manifest).validate();
};
