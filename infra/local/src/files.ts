import { access, readFile, rename, writeFile } from 'node:fs/promises';

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * The JSON in a file, or undefined when there is no file. The caller vouches for its shape: we wrote it.
 * @throws naming the file when it holds no JSON
 */
export const readJson = async <T>(path: string): Promise<T | undefined> => {
  if (!(await exists(path))) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (cause) {
    throw new Error(`${path} cannot be read as JSON`, { cause });
  }
};

/** Replaces a file as a whole, so that nobody reads half of it; only its owner may read it. */
export const writeJson = async (path: string, content: unknown): Promise<void> => {
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(partial, path);
};
