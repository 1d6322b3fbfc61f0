import { signal } from '@preact/signals';

/** The cell that is chosen; empty: the first one. */
export const cell = signal('');

/** The cells of all services beside the first ones. */
export const cellNames = (): readonly string[] => [...new Set(SERVICES.flatMap(({ cells }) => cells))];

const isBelow = (path: string, address: string): boolean =>
  path.startsWith(address) && /^(?:[/?]|$)/.test(path.slice(address.length));

/** The address of a request in the chosen cell; unchanged where the service of the path does not have that cell. */
export const inCell = (path: string, name = cell.value): string => {
  if (name === '') return path;
  for (const service of SERVICES.filter(({ cells }) => cells.includes(name))) {
    if (service.addresses.some((address) => isBelow(path, address))) return `/cells/${name}${path}`;
    if (path.startsWith('/docs/') && path.endsWith(`/${service.name}`)) return `${path}-${name}`;
  }
  return path;
};
