import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';

/** Returns the secret of a name: created once, then always the same. */
export type Secrets = (name: string) => string;

/** 256 random bits in hex. */
const make = (): string => randomBytes(32).toString('hex');

/** Reads the secrets of a stack and creates the missing ones; only the owner can read the file. */
export const openSecrets = async (localPath: string, names: readonly string[]): Promise<Secrets> => {
  const path = join(localPath, 'secrets.json');
  const known = (await readJson<Record<string, string>>(path)) ?? {};
  const missing = names.filter((name) => !known[name]);
  for (const name of missing) known[name] = make();
  if (missing.length > 0) await writeJson(path, known);
  return (name) => {
    const secret = known[name];
    if (!secret) throw new Error(`there is no secret named ${name}`);
    return secret;
  };
};
