import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readServices, withCells, type ListedService } from '@platform/service-list/read';
import { exists } from './local-folder.ts';

/** A service of the list with its folder. */
export interface Service extends ListedService {
  folder: string;
}

/** Added to the port of an instance for its probes. */
const PROBE_OFFSET = 10;
/** Added to the port of a service for each further instance of it. */
const INSTANCE_OFFSET = 40;

/**
 * Reads the services.yaml beside the folder of the services. Returns the services and their cells, sorted by port.
 * @throws with the invalid field, or the service that is only in the list or only in the folder
 */
export const findServices = async (root: string): Promise<Service[]> => {
  const file = join(root, '../services.yaml');
  const services = withCells(readServices(file)).map((service) => ({
    ...service,
    folder: join(root, service.image),
  }));
  const isService = (folder: string): Promise<boolean> => exists(join(folder, 'src/main.ts'));
  for (const { name, folder } of services)
    if (!(await isService(folder)))
      throw new Error(`${file} lists ${name}, but ${folder} has no src/main.ts`);
  for (const name of await readdir(root))
    if ((await isService(join(root, name))) && !services.some((service) => service.name === name))
      throw new Error(`${file} does not list ${name}`);
  return services;
};

/** Prefix of the variables for this service only: `TASK_MANAGER_`. It is the name of the database in upper case. */
export const variablePrefix = ({ database }: Service): string => `${database.toUpperCase()}_`;

/** Name of the process of an instance: `quest-service`, `quest-service-2`. */
export const instanceName = ({ name }: Service, instance: number): string =>
  instance === 1 ? name : `${name}-${instance}`;
/** Port of an instance; the first instance is 1. */
export const instancePort = ({ port }: Service, portBase: number, instance: number): number =>
  portBase + port + (instance - 1) * INSTANCE_OFFSET;
/** Port of an instance for /livez, /readyz and /metrics. */
export const probePort = (...args: Parameters<typeof instancePort>): number =>
  instancePort(...args) + PROBE_OFFSET;
