import type { ListedPath } from '@platform/service-list/read';
import { deployments } from '@platform/service-list';

/** A public address and its service. */
export interface Route extends ListedPath {
  service: string;
}

/** The public addresses of all services (services.yaml). */
export const routes: readonly Route[] = deployments.flatMap(({ name, paths }) =>
  paths.map((path) => ({ ...path, service: name })),
);

/** The services that have a public address, each once, in the order of the list. */
export const services: readonly string[] = deployments.map(({ name }) => name);

/** What the addresses of a service begin with that is a cell, and which it does not get. */
export const prefixOf = (service: string): string | undefined =>
  deployments.find(({ name }) => name === service)?.prefix || undefined;
