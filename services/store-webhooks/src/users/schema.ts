import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { emailAddress } from '../notifications/email-address.ts';
import { isoOf, isoOrNull } from '../time.ts';

export const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: "The member's id at the POS" }),
  email: emailAddress,
  firstName: text(0, 200).optional(),
  lastName: text(0, 200).optional(),
  phone: text(0, 50).optional(),
});

export const UserView = z
  .object({
    id: z.uuid(),
    consumerUserId: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    phone: z.string().nullable(),
    refreshedAt: instant().nullable().meta({ description: 'When the POS last told something new' }),
    createdAt: instant(),
  })
  .meta({ id: 'User' });

export type NewUser = z.output<typeof UserBody>;

export type UserRow = z.input<typeof UserView>;

export const showUser = (row: UserRow): UserRow => ({
  ...row,
  refreshedAt: isoOrNull(row.refreshedAt),
  createdAt: isoOf(row.createdAt),
});
