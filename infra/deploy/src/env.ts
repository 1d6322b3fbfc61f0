import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The file from which compose reads variables. */
const file = join(import.meta.dirname, '../.env');

/** Settings of a deployment with compose: from variables of the shell, otherwise from infra/deploy/.env. */
export const deploymentEnv = (): { services: string[] | undefined; portal: string | undefined } => {
  if (existsSync(file)) process.loadEnvFile(file);
  const { SERVICES: services, PORTAL: portal } = process.env;
  return { services: services ? services.split(',') : undefined, portal: portal || undefined };
};
