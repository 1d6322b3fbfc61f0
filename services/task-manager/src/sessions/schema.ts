import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';

export const SessionPath = idParams('01900000-0000-7000-8000-00000000d5e0');

/** Browser and network of a client, in sessions and in security events. */
export const clientFields = {
  browser: z.string().meta({ description: 'Browser and operating system', example: 'Firefox on Windows' }),
  network: z
    .string()
    .meta({ description: 'An IPv4 address, or the /64 of an IPv6 address', example: '192.0.2.7' }),
};

export const Session = z
  .object({
    id: z.uuid(),
    ...clientFields,
    current: z.boolean().meta({ description: 'Whether it is the session of this request' }),
    createdAt: instant(),
    lastUsedAt: instant().meta({
      description: 'Updated at most every five minutes, together with the network',
    }),
    expiresAt: instant().meta({ description: 'A refresh before then extends the session' }),
  })
  .meta({ id: 'Session' });

export const SessionQuery = z.strictObject(pageLimitQuery);

export const Sessions = pageLimitBody('sessions', Session).meta({ id: 'Sessions' });
