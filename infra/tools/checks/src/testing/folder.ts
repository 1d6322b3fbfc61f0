import { mkdirSync, mkdtempDisposableSync, writeFileSync, type DisposableTempDir } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Root of the checkout. */
export const root = join(import.meta.dirname, '../../../../..');

/** Creates a temporary folder with files, by path; disposal removes it. */
export const folderWith = (files: Record<string, string>): DisposableTempDir => {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'checks-'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
};

/** A tsconfig.json with the options of the repository, for files in `src`. */
export const tsconfig = JSON.stringify({
  extends: join(root, 'tsconfig.base.json'),
  compilerOptions: { types: [] },
  include: ['src'],
});
