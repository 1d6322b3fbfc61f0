import { passwordProblems } from '@platform/auth/password';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { email, User, userName } from '../users/schema.ts';

const password = z.string().meta({ format: 'password', description: '8 to 128 characters' });

export const Registration = z
  .strictObject({ email, password, name: userName.nullable().default(null) })
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
