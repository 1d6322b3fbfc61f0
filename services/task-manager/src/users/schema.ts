import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

/**
 * Trimmed and in lower case, so that one address is one user. It is validated before it is lower-cased:
 * some characters that an address may not contain, such as the Kelvin sign, have a lower case that it may.
 */
export const email = z.string().trim().max(254).pipe(z.email().toLowerCase());

export const userName = text(1, 100).regex(/\S/, 'must not be blank');

export const User = z
  .object({ id: z.uuid(), email: z.string(), name: z.string().nullable(), createdAt: instant() })
  .meta({ id: 'User' });

export type User = z.output<typeof User>;
