import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chartFiles } from './chart.ts';
import { folders, yamlOf } from './kubernetes/folders.ts';
import { readPlatform, readServices, root } from './values.ts';

/**
 * Writes the Kubernetes manifests: with `--out` three folders for `kubectl apply -k`, in the order namespace, migrations,
 * services; with `--chart` a Helm chart.
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    values: { type: 'string', multiple: true },
    tag: { type: 'string' },
    registry: { type: 'string' },
    namespace: { type: 'string' },
    chart: { type: 'string' },
  },
});
const { out, chart, values: files, ...given } = values;
if (out === undefined && chart === undefined) {
  process.stderr.write(
    'render --out FOLDER|--chart FOLDER [--registry R] [--tag T] [--namespace N] [--values FILE]…\n',
  );
  process.exit(2);
}
const platform = { ...readPlatform(files), ...given };
const services = readServices();

const write = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

if (out !== undefined)
  for (const [folder, contents] of Object.entries(folders(services, platform))) {
    rmSync(join(out, folder), { recursive: true, force: true });
    for (const [file, documents] of Object.entries(contents))
      write(join(out, folder, file), yamlOf(documents));
  }

const ownChart = join(root, 'infra/deploy/chart');
if (chart !== undefined) {
  if (resolve(chart) !== ownChart) cpSync(ownChart, chart, { recursive: true });
  for (const [file, text] of Object.entries(chartFiles(services, platform))) write(join(chart, file), text);
}
