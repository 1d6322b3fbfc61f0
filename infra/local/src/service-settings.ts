import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKey } from './keys.ts';
import type { LocalFolder } from './local-folder.ts';
import type { Secrets } from './secrets.ts';
import { instanceName, type Service } from './services.ts';

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
