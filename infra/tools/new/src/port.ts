import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Higher ones are used by probes, PostgreSQL and Redis; see infra/local/src/services.ts. */
const highest = 10;

/**
 * Returns the lowest `platform.port` that no service in the folder uses.
 * @throws when all are in use
 */
export const freePort = (services: string): number => {
  const files = readdirSync(services).map((name) => join(services, name, 'package.json'));
  const taken = files.filter(existsSync).map((file) => {
    const { platform } = JSON.parse(readFileSync(file, 'utf8')) as { platform?: { port?: number } };
    return platform?.port;
  });
  for (let port = 1; port <= highest; port += 1) if (!taken.includes(port)) return port;
  throw new Error(`All ports from 1 to ${highest} are in use.`);
};
