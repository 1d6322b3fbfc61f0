import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { email, newPassword, password, userName } from '../auth/schema.ts';
import { languages } from '../mails/texts/texts.ts';

export const ProfilePatch = z
  .strictObject({
    name: userName.nullable().optional(),
    language: z.enum(languages).optional().meta({ description: 'Language of mails' }),
  })
  .meta({ id: 'ProfilePatch', description: 'A JSON Merge Patch (RFC 7396)' });

export type ProfilePatch = z.output<typeof ProfilePatch>;

export const PasswordChange = z
  .strictObject({ currentPassword: password, newPassword })
  .meta({ id: 'PasswordChange' });

export type PasswordChange = z.output<typeof PasswordChange>;

export const PasswordResetRequest = z.strictObject({ email }).meta({ id: 'PasswordResetRequest' });

export const Reauthentication = z.strictObject({ password }).meta({ id: 'Reauthentication' });

const token = text(1, 200).meta({ description: 'The code of the mail' });

export const PasswordReset = z.strictObject({ token, newPassword }).meta({ id: 'PasswordReset' });

export type PasswordReset = z.output<typeof PasswordReset>;

export const EmailChange = z
  .strictObject({
    newEmail: email,
    currentPassword: password.optional().meta({
      description: 'Required unless the password was entered in this session within the last ten minutes',
    }),
  })
  .meta({ id: 'EmailChange' });

export type EmailChange = z.output<typeof EmailChange>;

export const EmailConfirmation = z.strictObject({ token }).meta({ id: 'EmailConfirmation' });

export const Leaving = z
  .object({
    erasedAt: instant().meta({ description: 'Time of the erasure; a login before then cancels it' }),
  })
  .meta({ id: 'Leaving' });
