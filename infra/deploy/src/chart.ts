import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { helm } from './helm.ts';

const folder = join(import.meta.dirname, '..');

/** A manifest, as it is read from YAML. */
export interface Manifest {
  apiVersion: string;
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

/** A class of kubernetes-models. */
type Model = new (manifest: Manifest) => { validate: () => void };

/** Checks a manifest by the schemas of Kubernetes' own OpenAPI document. @throws saying what is wrong */
export const validateManifest = async (manifest: Manifest): Promise<void> => {
  const { apiVersion, kind } = manifest;
  const module = `kubernetes-models/${apiVersion}/${kind}`;
  const models = (await import(module)) as Record<string, Model>;
  const KindModel = models[kind];
  if (KindModel === undefined) throw new Error(`kubernetes-models has no ${kind} of ${apiVersion}`);
  new KindModel(manifest).validate();
};
