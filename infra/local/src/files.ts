import { renameSync, writeFileSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * The JSON in a file, or undefined when the file does not exist. Its shape is not checked: only this package writes it.
 * @throws naming the file when this user may not read it or it is not JSON
 */
export const readJson = async <T>(path: string): Promise<T | undefined> => {
  if (!(await exists(path))) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (cause) {
    const belongsToOther = (cause as NodeJS.ErrnoException).code === 'EACCES';
    const reason = belongsToOther
      ? 'it belongs to another user; change the owner of the folder, or pass --local FOLDER'
      : (cause as Error).message;
    throw new Error(`${path} cannot be read: ${reason}`, { cause });
  }
};

/** Replaces a file atomically; only its owner can read it. It returns when that is done, so no two writes overlap. */
export const writeJson = (path: string, content: unknown): void => {
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, path);
};
