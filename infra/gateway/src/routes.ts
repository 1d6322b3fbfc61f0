import type { ListedPath } from '@platform/service-list/read';
import { services as list } from '@platform/service-list';

/** A public address and its service. */
export interface Route extends ListedPath {
  service: string;
}

/** The public addresses of all services (services.yaml). */
export const routes: readonly Route[] = list.flatMap(({ name, paths }) =>
  paths.map((path) => ({ ...path, service: name })),
);

/** The services that have a public address, each once, in the order of the list. */
export const services: readonly string[] = list.map(({ name }) => name);
