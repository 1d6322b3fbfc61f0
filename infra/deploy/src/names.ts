import type { ListedService } from '@platform/service-list/read';

/** Name of the database and of the role of a service. */
export const databaseOf = ({ name }: ListedService): string => name.replaceAll('-', '_');

/** Variables of a service with a secret that is its own. */
export const secretsOf = ({ secrets, keys }: ListedService): string[] => [...secrets, ...keys];

/** The file of a secret in compose: `HMAC_SECRET` → `hmac-secret`. */
export const secretFileOf = (variable: string): string => variable.toLowerCase().replaceAll('_', '-');
