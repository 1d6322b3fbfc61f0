import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';

/** Returns the secret of a name, 256 random bits in hex: created when it is first asked for, then always the same. */
export type Secrets = (name: string) => string;

/** Opens the secrets of a stack; only the owner can read their file. */
export const openSecrets = async (localPath: string): Promise<Secrets> => {
  const path = join(localPath, 'secrets.json');
  const stored = (await readJson<Record<string, string>>(path)) ?? {};
  return (name) => {
    const secret = stored[name] ?? randomBytes(32).toString('hex');
    if (stored[name] === undefined) {
      stored[name] = secret;
      writeJson(path, stored);
    }
    return secret;
  };
};
