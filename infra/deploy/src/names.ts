import type { ListedService } from '@platform/service-list/read';

/** Variables of a service with a secret that is its own. */
export const secretsOf = ({ secrets, keys }: ListedService): string[] => [...secrets, ...keys];

/** The file of a secret in compose: `HMAC_SECRET` → `hmac-secret`, with the name of its service in front for a cell. */
export const secretFileOf = ({ name, prefix }: ListedService, variable: string): string =>
  (prefix === '' ? '' : `${name}-`) + variable.toLowerCase().replaceAll('_', '-');

/** The file of the address of Redis, in which each cell has a database of its own. */
export const redisFileOf = (service: ListedService): string => secretFileOf(service, 'REDIS_URL');
