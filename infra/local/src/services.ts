import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, readJson } from './files.ts';

/** A service, as its package.json describes it. */
export interface Service {
  name: string;
  folder: string;
  /** Added to PORT_BASE. */
  port: number;
  /** Variables that get a random secret, and those that get a private Ed25519 key as JWK. */
  secrets: string[];
  keys: string[];
  /** Variables that get a folder, which is kept as long as the data. */
  folders: string[];
  /** Scopes that its routes require. */
  scopes: string[];
}

interface Manifest {
  name?: string;
  platform?: { port?: unknown; secrets?: unknown; keys?: unknown; folders?: unknown; scopes?: unknown };
}

/** The ports from here to PostgreSQL's are those of probes. */
const HIGHEST_PORT = 10;
/** Added to the port of an instance for its probes. */
const PROBE_OFFSET = 10;
/** Added to the port of a service for each further instance of it. */
const INSTANCE_OFFSET = 40;

const list = (where: string, found: unknown): string[] => {
  if (found === undefined) return [];
  if (Array.isArray(found) && found.every((one) => typeof one === 'string')) return found;
  throw new Error(`${where} must be a list of strings`);
};

const describe = (folder: string, { name, platform }: Manifest): Service => {
  const where = join(folder, 'package.json');
  // The database, the roles and the prefix of variables are named after it.
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
 * The services in a folder, in the order of their ports. A folder without src/main.ts is not a service.
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

/** Name of a process of a service: that of the service, and a number from the second instance on. */
export const instanceName = ({ name }: Service, instance: number): string =>
  instance === 1 ? name : `${name}-${instance}`;
/** Port of an instance, counted from 1. */
export const instancePort = ({ port }: Service, portBase: number, instance: number): number =>
  portBase + port + (instance - 1) * INSTANCE_OFFSET;
/** Port of its probes: /livez, /readyz and /metrics. */
export const probePort = (...of: Parameters<typeof instancePort>): number =>
  instancePort(...of) + PROBE_OFFSET;
