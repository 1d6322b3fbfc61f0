import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderConfig } from './config.ts';
import type { GatewayOptions } from './options.ts';
import { errorLogFile } from './settings.ts';

/** Whether every user may enter the folder and all folders above it. */
const isOpen = async (folder: string): Promise<boolean> => {
  const { mode } = await stat(folder);
  const above = dirname(folder);
  return (mode & 0o001) !== 0 && (above === folder || (await isOpen(above)));
};

/**
 * `root` when root starts the gateway and no other user can enter its folders (a checkout below /root). Otherwise undefined:
 * nginx then has the unprivileged user that it was built with.
 */
export const workerUser = async (folders: readonly string[]): Promise<'root' | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const open = await Promise.all(folders.map(isOpen));
  return open.every(Boolean) ? undefined : 'root';
};

/** The file that `secretFile` names: nginx includes it, so that the secret is in no other configuration. */
const writeSecret = async (runDir: string, secret: string): Promise<string> => {
  if (secret.length < 32 || !/^[\w-]+$/.test(secret))
    throw new Error('the secret must be 32 or more of A-Z, a-z, 0-9, _ and -');
  const file = join(runDir, 'gateway-secret.conf');
  await rm(file, { force: true });
  await writeFile(file, `proxy_set_header X-Gateway-Secret "${secret}";\n`, { mode: 0o600 });
  return file;
};

/** A gateway on this machine, ready to start. */
export interface PreparedGateway {
  /** Path of nginx.conf. */
  config: string;
  /** Arguments of nginx, which stays in the foreground. */
  args: string[];
}

/**
 * Writes the configuration into a folder, which it creates when missing, and returns the path of nginx.conf.
 * @throws an Error that names every wrong option
 */
export const writeConfig = async (folder: string, options: GatewayOptions): Promise<string> => {
  const files = renderConfig(options);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return join(folder, 'nginx.conf');
};

/** Options of a gateway on this machine. */
export interface LocalOptions extends GatewayOptions {
  /** Folder for the configuration, the pid and nginx's empty temporary folders. */
  runDir: string;
  /** Shared with the services (GATEWAY_SECRET). */
  secret?: string;
}

/**
 * Creates the folders and the configuration (in runDir) of a gateway on this machine. As root it also chooses the user of
 * the workers, who must be able to enter runDir and to read docsDir.
 * @throws an Error that names every wrong option
 */
export const prepareGateway = async ({
  secret,
  runDir,
  ...options
}: LocalOptions): Promise<PreparedGateway> => {
  const { logDir, docsDir } = options;
  // Root creates them and another user works in them: they may be entered, but not listed.
  for (const folder of [runDir, logDir])
    if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o711 });
  const user = options.user ?? (await workerUser(docsDir === undefined ? [runDir] : [runDir, docsDir]));
  const secretFile = secret === undefined ? undefined : await writeSecret(runDir, secret);
  const config = await writeConfig(join(runDir, 'conf'), {
    ...options,
    ...(user !== undefined && { user }),
    ...(secretFile !== undefined && { secretFile }),
  });
  // -e: until it has read its configuration, nginx logs to a file that was chosen when it was built.
  return { config, args: ['-p', runDir, '-e', errorLogFile(options), '-c', config] };
};
