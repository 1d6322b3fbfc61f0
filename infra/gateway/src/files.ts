import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderConfig } from './config.ts';
import { errorLogFile } from './logs.ts';
import type { GatewayOptions } from './options.ts';
import { workerUser } from './user.ts';

/** The file that `secretFile` names: nginx includes it, so that the secret is in no other configuration. */
const writeSecret = async (runDir: string, secret: string): Promise<string> => {
  if (!/^[\w-]{32,}$/.test(secret))
    throw new Error('the secret must be 32 or more of A-Z, a-z, 0-9, _ and -');
  const file = join(runDir, 'gateway-secret.conf');
  await rm(file, { force: true });
  await writeFile(file, `proxy_set_header X-Gateway-Secret "${secret}";\n`, { mode: 0o600 });
  return file;
};

/** A gateway that is ready to be started on this machine. */
export interface PreparedGateway {
  /** The file with its configuration. */
  config: string;
  /** Arguments for nginx, which stays in the foreground. */
  args: string[];
}

/**
 * Writes nginx.conf into the folder, which is made when missing; answers with its path.
 * @throws an Error that names every wrong option
 */
export const writeConfig = async (folder: string, options: GatewayOptions): Promise<string> => {
  const text = renderConfig(options);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  await writeFile(file, text);
  return file;
};

/**
 * Makes the folders and the configuration (in runDir) of a gateway on this machine. As root it also finds the user for
 * the workers, who must be able to enter runDir and to read docsDir.
 * @param options with `secret`, shared with the services (GATEWAY_SECRET)
 * @throws an Error that names every wrong option
 */
export const prepareGateway = async ({
  secret,
  ...options
}: GatewayOptions & { secret?: string }): Promise<PreparedGateway> => {
  const { runDir, logDir, docsDir } = options;
  // Made by root, used by another user: to be entered, not to be listed.
  for (const folder of [runDir, logDir])
    if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o711 });
  const user = options.user ?? (await workerUser(docsDir === undefined ? [runDir] : [runDir, docsDir]));
  const secretFile = secret === undefined ? undefined : await writeSecret(runDir, secret);
  const config = await writeConfig(runDir, {
    ...options,
    ...(user !== undefined && { user }),
    ...(secretFile !== undefined && { secretFile }),
  });
  // -e: before it has read its configuration, nginx logs to a place that was chosen when it was built.
  return { config, args: ['-p', runDir, '-e', errorLogFile(options), '-c', config] };
};
