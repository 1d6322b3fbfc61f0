import { Counter, type Registry } from '@prometheus-io/client';

/** Counts challenges that were sent for another payment than theirs; the alert ChallengeMismatch reads it. */
export const createMismatchCounter = (registry: Registry): Counter =>
  new Counter({
    name: 'webhooks_challenge_mismatches_total',
    help: '3DS challenges that belong to another payment than the one they were sent for',
    registers: [registry],
  });
