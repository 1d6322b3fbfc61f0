import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { emailAddress } from '../notifications/email-address.ts';

export const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: 'The id of the member at the POS' }),
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
    refreshedAt: instant().nullable().meta({ description: 'When the POS last sent something new' }),
    createdAt: instant(),
  })
  .meta({ id: 'User' });
