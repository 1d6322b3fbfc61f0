import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { folders, yamlOf } from './kubernetes/folders.ts';
import { readPlatform, readServices } from './values.ts';

/** Writes the Kubernetes manifests: three folders for `kubectl apply -k`, in the order namespace, migrations, services. */
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    values: { type: 'string', multiple: true },
    tag: { type: 'string' },
    registry: { type: 'string' },
    namespace: { type: 'string' },
  },
});
const { out, values: files, ...given } = values;
if (out === undefined) {
  process.stderr.write('render --out FOLDER [--registry R] [--tag T] [--namespace N] [--values FILE]…\n');
  process.exit(2);
}
const platform = { ...readPlatform(files), ...given };
for (const [folder, contents] of Object.entries(folders(readServices(), platform))) {
  rmSync(join(out, folder), { recursive: true, force: true });
  mkdirSync(join(out, folder), { recursive: true });
  for (const [file, documents] of Object.entries(contents))
    writeFileSync(join(out, folder, file), yamlOf(documents));
}
process.stdout.write(`${out}\n`);
