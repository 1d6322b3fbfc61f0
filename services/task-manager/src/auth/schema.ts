import { passwordProblems } from '@platform/auth/password';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { languages } from '../mails/texts/texts.ts';

/**
 * Trims and lower-cases an address, so that one address belongs to one user. Validates before lower-casing, because some
 * characters that an address may not contain, such as the Kelvin sign, have an allowed lower case.
 */
export const email = z.string().trim().max(254).pipe(z.email().toLowerCase()).meta({ format: 'email' });

/** Name of a user. */
export const userName = text(1, 100).regex(/\S/, 'must not be blank');

export const User = z
  .object({
    id: z.uuid(),
    email: z.string().meta({ format: 'email' }),
    emailVerified: z
      .boolean()
      .meta({ description: 'Whether the user confirmed the address with a mailed code' }),
    name: z.string().nullable(),
    language: z.enum(languages).meta({ description: 'Language of mails' }),
    createdAt: instant(),
    version: z.int().min(1),
  })
  .meta({ id: 'User' });

export type User = z.output<typeof User>;

/** A password to compare. May be longer than allowed passwords, because NFKC can shorten a text up to eight times. */
export const password = z.string().meta({
  format: 'password',
  maxLength: 1024,
  description: '8 to 128 characters, after normalization (NFKC)',
});

/** A password to set; `passwordProblems` checks its rules. */
export const newPassword = password.meta({ minLength: 8 });

export const Registration = z
  .strictObject({
    email,
    password: newPassword,
    name: userName.nullable().default(null),
    language: z.enum(languages).default('en'),
  })
  .superRefine(({ email, password }, context) => {
    for (const message of passwordProblems(password, email)) {
      context.addIssue({ code: 'custom', path: ['password'], message });
    }
  })
  .meta({ id: 'Registration' });

export type Registration = z.output<typeof Registration>;

export const Login = z.strictObject({ email, password }).meta({ id: 'Login' });

export type Login = z.output<typeof Login>;

const expiresAt = instant().meta({ description: 'When the access token expires' });

export const LoggedIn = z.object({ user: User, accessToken: z.string(), expiresAt }).meta({ id: 'LoggedIn' });

export const Checked = z.object({ user: User, expiresAt }).meta({ id: 'Checked' });

export const LoginWait = z
  .strictObject({
    address: z.union([z.ipv4(), z.ipv6()]).meta({
      description: 'A client address; an IPv6 address stands for its /64, /56 and /48',
      example: '192.0.2.7',
    }),
    email: email.optional().meta({ description: 'The account whose wait ends as well' }),
  })
  .meta({ id: 'LoginWait' });

export type LoginWait = z.output<typeof LoginWait>;
