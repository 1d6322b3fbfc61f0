import { passwordProblems } from '@platform/auth/password';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { languages } from '../mails/texts/texts.ts';

/**
 * Trimmed and in lower case, so that one address is one user. It is validated before it is lower-cased:
 * some characters that an address may not contain, such as the Kelvin sign, have a lower case that it may.
 */
export const email = z.string().trim().max(254).pipe(z.email().toLowerCase()).meta({ format: 'email' });

/** The name of a user. */
export const userName = text(1, 100).regex(/\S/, 'must not be blank');

export const User = z
  .object({
    id: z.uuid(),
    email: z.string().meta({ format: 'email' }),
    emailVerified: z.boolean().meta({ description: 'Whether a mail to it was confirmed' }),
    name: z.string().nullable(),
    language: z.enum(languages).meta({ description: 'Of mails' }),
    createdAt: instant(),
    version: z.int().min(1),
  })
  .meta({ id: 'User' });

export type User = z.output<typeof User>;

/** A password as it is sent, which is compared with another. Normalization (NFKC) can make it up to eight times as short. */
export const password = z.string().meta({
  format: 'password',
  maxLength: 1024,
  description: '8 to 128 characters, after normalization (NFKC)',
});

/** A password to be set; its rules are those of `passwordProblems`. */
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
