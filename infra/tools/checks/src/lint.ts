/**
 * Lints the files that changed since they last passed, and those that import them. With `--all`, or when the rules or
 * the dependencies changed, it lints everything.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '../../../..');
const cache = join(root, 'node_modules/.cache/check/lint.json');

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const checksum = (text: string): string => createHash('sha256').update(text).digest('base64url');

const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '*.ts', '*.mjs'], {
  cwd: root,
  encoding: 'utf8',
});
const texts = new Map(
  list
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)))
    .map((file) => [file, read(file)]),
);
const checksums: Record<string, string> = {
  // The rules, and the types of the dependencies.
  '': checksum(['.oxlintrc.json', 'tsconfig.base.json', 'pnpm-lock.yaml'].map(read).join('\0')),
  ...Object.fromEntries([...texts].map(([file, text]) => [file, checksum(text)])),
};

const passed = (): Record<string, string> => {
  try {
    return JSON.parse(readFileSync(cache, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
};
const known = process.argv.includes('--all') ? {} : passed();
const isKnown = (file: string): boolean => known[file] === checksums[file];

/** What an import of one of the files ends with: `/text.ts'` in the same package, `/text'` in another. */
const importEnds = (files: readonly string[]): string[] =>
  files.flatMap((file) => [`/${basename(file)}'`, `/${basename(file, '.ts')}'`]);

const filesToLint = (): string[] => {
  if (!isKnown('')) return ['.'];
  const changed = [...texts.keys()].filter((file) => !isKnown(file));
  const removed = Object.keys(known).filter((file) => !(file in checksums));
  const ends = importEnds([...changed, ...removed]);
  const importers = [...texts].filter(([, text]) => ends.some((end) => text.includes(end)));
  return [...new Set([...changed, ...importers.map(([file]) => file)])];
};

const files = filesToLint();
const { status } =
  files.length === 0
    ? { status: 0 }
    : spawnSync('oxlint', ['--no-error-on-unmatched-pattern', ...files], { cwd: root, stdio: 'inherit' });
if (status === 0) {
  mkdirSync(join(cache, '..'), { recursive: true });
  writeFileSync(cache, JSON.stringify(checksums));
}
process.exitCode = status ?? 1;
