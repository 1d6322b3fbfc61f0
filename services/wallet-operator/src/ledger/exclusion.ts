/**
 * An exclusion is one instant in `players.excluded_until`: it holds before it. `infinity` is an exclusion without end,
 * null none at all. Callers read and write it as the last excluded day in the player's time zone.
 */

/** SQL: the last excluded day as text; null without an exclusion, and for one without end. */
export const lastExcludedDay = (players: string): string =>
  `to_char((nullif(${players}.excluded_until, 'infinity') - interval '1 microsecond')
    at time zone coalesce(${players}.time_zone, 'UTC'), 'YYYY-MM-DD')`;
