import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

/**
 * Trimmed and in lower case, so that one person is one user. In this order: some letters that no address
 * may have, such as the Kelvin sign, have lower cases that it may.
 */
export const email = z.string().trim().max(254).pipe(z.email().toLowerCase());

export const userName = text(1, 100).regex(/\S/, 'must not be blank');

export const User = z
  .object({ id: z.uuid(), email: z.string(), name: z.string().nullable(), createdAt: instant() })
  .meta({ id: 'User' });

export type User = z.output<typeof User>;
