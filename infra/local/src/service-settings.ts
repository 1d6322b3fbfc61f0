import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';
import { privateKey } from './keys.ts';
import type { LocalFolder } from './local-folder.ts';
import { instanceName, type Service } from './services.ts';

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

/**
 * What a service asks for in services.yaml, by the name of the variable: secrets, private keys as JWKs, and folders.
 * All are created once and kept; each instance has its own folders.
 */
export const ownSettings = async (
  service: Service,
  local: LocalFolder,
  secrets: Secrets,
  instance: number,
): Promise<Record<string, string>> => {
  const { name, keys, folders } = service;
  const settings: Record<string, string> = {};
  for (const variable of service.secrets) settings[variable] = secrets(`${name}/${variable}`);
  for (const variable of keys)
    settings[variable] = JSON.stringify(await privateKey(local.keys, `${name}.${variable}`));
  for (const variable of folders) {
    const folder = join(local.path, 'folders', instanceName(service, instance), variable);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    settings[variable] = folder;
  }
  return settings;
};
