import type { ListedService } from '@platform/service-list/read';

/** Variables of a service with a secret that is its own. */
export const secretsOf = ({ secrets, keys }: ListedService): string[] => [...secrets, ...keys];

/** Variables that several services have, each with a value of its own. */
const shared = new Set(['SUBSCRIPTIONS_KEY']);

/**
 * The file of a secret in compose: `HMAC_SECRET` → `hmac-secret`, with the name of its service in front for a cell and where
 * several services have one.
 */
export const secretFileOf = ({ name, prefix }: ListedService, variable: string): string =>
  (prefix === '' && !shared.has(variable) ? '' : `${name}-`) + variable.toLowerCase().replaceAll('_', '-');

/** The file of the address of Redis, in which each cell has a database of its own. */
export const redisFileOf = (service: ListedService): string => secretFileOf(service, 'REDIS_URL');
