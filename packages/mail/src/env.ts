import { z } from 'zod';

/** The settings of mails. */
export const mailEnv = {
  /** Mail server; without it there are no mails. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  SMTP_FROM: z
    .string()
    .regex(/^[^\s<>,;@]+@[^\s<>,;@]+$/, 'must be one address without a name')
    .default('no-reply@localhost'),
};
