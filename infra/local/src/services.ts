import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readServices, withCells, type ListedService } from '@platform/service-list/read';
import { exists } from './local-folder.ts';

/** A service of the list, and its folder. */
export interface Service extends ListedService {
  folder: string;
}

/** Added to the port of an instance for its probes. */
const PROBE_OFFSET = 10;
/** Added to the port of a service for each further instance of it. */
const INSTANCE_OFFSET = 40;

/**
 * The services in a folder, as the services.yaml beside that folder lists them, in the order of their ports, and their cells.
 * @throws naming the field that is wrong, or a service that is only in the list or only in the folder
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

/** `TASK_MANAGER_`: a variable that begins with it is set for this service only. Databases have the same names, in lower case. */
export const variablePrefix = ({ database }: Service): string => `${database.toUpperCase()}_`;

/** Name of a process of a service: that of the service, and a number from the second instance on. */
export const instanceName = ({ name }: Service, instance: number): string =>
  instance === 1 ? name : `${name}-${instance}`;
/** Port of an instance, counted from 1. */
export const instancePort = ({ port }: Service, portBase: number, instance: number): number =>
  portBase + port + (instance - 1) * INSTANCE_OFFSET;
/** Port of its probes: /livez, /readyz and /metrics. */
export const probePort = (...of: Parameters<typeof instancePort>): number =>
  instancePort(...of) + PROBE_OFFSET;
