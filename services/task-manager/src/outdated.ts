import { outdatedKeys } from '@platform/service-kit/idempotency';
import type { Prunable } from '@platform/service-kit/pruning';
import { networkDays } from './auth/queries.ts';
import { outdatedInvitations } from './lists/queries.ts';
import { outdatedMails } from './mails/queries.ts';
import { outdatedEvents } from './security/events.ts';

/** Rows that are no longer read; deleted in the background. */
export const outdated: readonly Prunable[] = [
  { table: 'sessions', outdated: 'expires_at <= now()' },
  { table: 'known_networks', outdated: `seen_at < now() - interval '${networkDays} days'` },
  outdatedInvitations,
  outdatedMails,
  outdatedEvents,
  outdatedKeys,
];
