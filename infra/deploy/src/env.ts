import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file from which compose reads variables. */
const file = join(import.meta.dirname, '../.env');

/** Adds the project and its files to this file, where compose finds them when it runs in its folder. */
export const nameComposeFiles = (path = file): void => {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (/^COMPOSE_FILE=/m.test(text)) return;
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  const lines = 'COMPOSE_PROJECT_NAME=platform\nCOMPOSE_FILE=compose.yaml:prepared/compose.yaml\n';
  appendFileSync(path, separator + lines);
};

/** Settings of a deployment with compose: from variables of the shell, otherwise from infra/deploy/.env. */
export const deploymentEnv = (): { services: string[] | undefined; portal: string | undefined } => {
  if (existsSync(file)) process.loadEnvFile(file);
  const { SERVICES: services, PORTAL: portal } = process.env;
  return { services: services ? services.split(',') : undefined, portal: portal || undefined };
};
