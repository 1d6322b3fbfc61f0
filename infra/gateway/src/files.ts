import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderConfig } from './config.ts';
import { errorLogFile } from './logs.ts';
import type { GatewayOptions } from './options.ts';
import { workerUser } from './user.ts';

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
 * @throws an Error that names every wrong option
 */
export const prepareGateway = async (options: GatewayOptions): Promise<PreparedGateway> => {
  const { runDir, logDir, docsDir } = options;
  // Made by root, used by another user: to be entered, not to be listed.
  for (const folder of [runDir, logDir])
    if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o711 });
  const user = options.user ?? (await workerUser(docsDir === undefined ? [runDir] : [runDir, docsDir]));
  const config = await writeConfig(runDir, user === undefined ? options : { ...options, user });
  // -e: before it has read its configuration, nginx logs to a place that was chosen when it was built.
  return { config, args: ['-p', runDir, '-e', errorLogFile(options), '-c', config] };
};
