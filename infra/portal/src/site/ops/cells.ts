import { signal } from '@preact/signals';

/** Name of the selected cell; empty for the first cell. */
export const cell = signal('');

/** Names of the cells of all services, except the unnamed first cells. */
export const cellNames = (): readonly string[] => [...new Set(SERVICES.flatMap(({ cells }) => cells))];

const isBelow = (path: string, address: string): boolean =>
  path.startsWith(address) && /^(?:[/?]|$)/.test(path.slice(address.length));

/** The path of a request in the selected cell; unchanged if the service of the path does not have that cell. */
export const inCell = (path: string, name = cell.value): string => {
  if (name === '') return path;
  for (const service of SERVICES.filter(({ cells }) => cells.includes(name))) {
    if (service.addresses.some((address) => isBelow(path, address))) return `/cells/${name}${path}`;
    if (path.startsWith('/docs/') && path.endsWith(`/${service.name}`)) return `${path}-${name}`;
  }
  return path;
};
