import type { ListedService } from '@platform/service-list/read';

/** Names of the variables of a service that contain its own secrets. */
export const secretsOf = ({ secrets, keys }: ListedService): string[] => [...secrets, ...keys];

/** Variables that several services have with different values. */
const ambiguousVariables = new Set(['SUBSCRIPTIONS_KEY']);

/**
 * File name of a secret in compose: `HMAC_SECRET` → `hmac-secret`. For cells, and for variables that several services have,
 * it begins with the name of the service.
 */
export const secretFileOf = ({ name, prefix }: ListedService, variable: string): string => {
  const file = variable.toLowerCase().replaceAll('_', '-');
  return prefix === '' && !ambiguousVariables.has(variable) ? file : `${name}-${file}`;
};

/** File name of the Redis URL. Each cell has a separate database in Redis. */
export const redisFileOf = (service: ListedService): string => secretFileOf(service, 'REDIS_URL');
