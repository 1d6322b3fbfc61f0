import { z } from 'zod';

const iso8601 = z.union([
  z.iso.date(),
  z.iso.datetime({ offset: true }),
  // To the minute.
  z.iso.datetime({ offset: true, precision: -1 }),
]);

/** A digit beyond the milliseconds that is not 0. */
const finer = /\.\d{3}\d*[1-9]/;

/** A `+` that somebody forgot to write as %2B has become a space. */
const lostPlus = / (?=\d\d:\d\d$)/;

/** In milliseconds since 1970; what is finer counts as the next one, so that nothing before it is meant. */
const millisecondsOf = (written: string): number => Date.parse(written) + (finer.test(written) ? 1 : 0);

/**
 * An instant as a client writes it: ISO 8601 with a date and a zone (`Z` or `±hh:mm`), or a date alone,
 * which means its midnight in UTC. Becomes UTC with milliseconds. Source: seed 002, part A; the forms
 * that are taken are ours.
 */
export const moment = (description: string) =>
  z
    .string()
    .transform((written, context) => {
      const given = written.replace(lostPlus, '+');
      if (!iso8601.safeParse(given).success) {
        context.addIssue(
          'must be an ISO 8601 timestamp with a date and a zone, such as 2026-03-01T12:00:00Z',
        );
        return z.NEVER;
      }
      const instant = new Date(millisecondsOf(given));
      const year = instant.getUTCFullYear();
      if (year < 1 || year > 9999) {
        context.addIssue('must lie in the years 0001 to 9999, in UTC');
        return z.NEVER;
      }
      return instant.toISOString();
    })
    .meta({ description, example: '2026-03-01T12:00:00.000Z' });
