const ceilingMs = 3_600_000;

/**
 * Milliseconds until an event is tried again whose provider was not asked, because it failed repeatedly. Grows with the
 * time that the event has waited for it, up to an hour.
 */
export const pauseAfter = (waitedMs: number, leastMs: number, chance = Math.random()): number =>
  Math.round(Math.max(leastMs, Math.min(waitedMs / 4, ceilingMs) * (0.5 + chance / 2)));
