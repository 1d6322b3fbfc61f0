import { idParams } from '@platform/service-kit/record';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { email, User } from '../auth/schema.ts';

export const UserPath = idParams('01900000-0000-7000-8000-0000000000d1');

export const UserQuery = z.strictObject({
  email: email.meta({ description: 'Email address of the account', example: 'finn@example.test' }),
});

export const Account = User.extend({
  lockedAt: instant().nullable().meta({ description: 'Since when logins are refused; null: not locked' }),
  deletionAt: instant()
    .nullable()
    .meta({ description: 'Time of the erasure; a login before then cancels it' }),
  sessions: z.int().min(0),
}).meta({ id: 'Account', description: 'A user as operators see them' });

export const Accounts = z.object({ users: z.array(Account) }).meta({ id: 'Accounts' });
