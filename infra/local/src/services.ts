import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, readJson } from './files.ts';

/** A service as its folder tells it. */
export interface Service {
  name: string;
  folder: string;
  /** Added to PORT_BASE. */
  port: number;
  /** Names of variables that get a random secret, and of those that get a private Ed25519 key as JWK. */
  secrets: string[];
  keys: string[];
  /** Names of variables that get a folder, which lasts as long as the stack's data. */
  folders: string[];
  /** Scopes that its routes ask for. */
  scopes: string[];
}

interface Manifest {
  name?: string;
  platform?: { port?: unknown; secrets?: unknown; keys?: unknown; folders?: unknown; scopes?: unknown };
}

/** Ports between the services' and PostgreSQL's are free for services to come. */
const HIGHEST_PORT = 31;

const list = (where: string, found: unknown): string[] => {
  if (found === undefined) return [];
  if (Array.isArray(found) && found.every((one) => typeof one === 'string')) return found;
  throw new Error(`${where} must be a list of strings`);
};

const describe = (folder: string, { name, platform }: Manifest): Service => {
  const where = join(folder, 'package.json');
  // The name becomes the name of a database, of roles and of variables.
  if (!name || !/^[a-z][a-z0-9-]{0,40}$/.test(name)) {
    throw new Error(`${where}: "name" must be lower-case letters, digits and dashes`);
  }
  const port = platform?.port;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > HIGHEST_PORT) {
    throw new Error(`${where}: "platform.port" must be a whole number from 1 to ${HIGHEST_PORT}`);
  }
  return {
    name,
    folder,
    port,
    secrets: list(`${where}: "platform.secrets"`, platform?.secrets),
    keys: list(`${where}: "platform.keys"`, platform?.keys),
    folders: list(`${where}: "platform.folders"`, platform?.folders),
    scopes: list(`${where}: "platform.scopes"`, platform?.scopes),
  };
};

const refuseSharedPorts = (services: readonly Service[]): void => {
  for (const one of services) {
    const other = services.find((service) => service.port === one.port);
    if (other && other !== one) {
      throw new Error(`${other.name} and ${one.name} have the same "platform.port" ${one.port}`);
    }
  }
};

/**
 * The services under a folder, in the order of their ports. A folder without src/main.ts is no service (yet).
 * @throws naming the package.json that is wrong
 */
export const findServices = async (root: string): Promise<Service[]> => {
  const found: Service[] = [];
  for (const entry of await readdir(root)) {
    const folder = join(root, entry);
    const manifest = await readJson<Manifest>(join(folder, 'package.json'));
    if (manifest && (await exists(join(folder, 'src/main.ts')))) found.push(describe(folder, manifest));
  }
  refuseSharedPorts(found);
  return found.toSorted((a, b) => a.port - b.port);
};

/** `task-manager` as the name of a database and role, and as the beginning of a variable's name. */
export const databaseName = ({ name }: Service): string => name.replaceAll('-', '_');
export const variablePrefix = (service: Service): string => `${databaseName(service).toUpperCase()}_`;
