import { z } from 'zod';

/**
 * Exactly one mail address (RFC 5321 length, the characters of zod's `email`). Lists, display names and quoted
 * parts are rejected, because mail libraries may read them as several recipients.
 */
export const emailAddress = z.email().max(254);

/** Returns the value if it is exactly one address, otherwise undefined. */
export const oneAddress = (value: string | null | undefined): string | undefined =>
  emailAddress.safeParse(value).data;

/** The settings of mails. */
export const mailEnv = {
  /** Mail server; without it there are no mails. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  SMTP_FROM: z
    .string()
    .regex(/^[^\s<>,;@]+@[^\s<>,;@]+$/, 'must be one address without a name')
    .default('no-reply@localhost'),
};
