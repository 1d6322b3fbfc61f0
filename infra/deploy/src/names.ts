import type { ListedService } from '@platform/service-list/read';

/** Variables of a service with a secret that is its own. */
export const secretsOf = ({ secrets, keys }: ListedService): string[] => [...secrets, ...keys];

/** The file of a secret in compose: `HMAC_SECRET` → `hmac-secret`. */
export const secretFileOf = (variable: string): string => variable.toLowerCase().replaceAll('_', '-');
