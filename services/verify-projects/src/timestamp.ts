import { z } from 'zod';

/** A time without seconds, which JSON Schema's `date-time` does not allow. */
const toTheMinute = z.string().regex(z.core.regexes.datetime({ offset: true, precision: -1 }));

const iso8601 = z.union([z.iso.date(), z.iso.datetime({ offset: true }), toTheMinute], {
  error:
    'must be an ISO 8601 timestamp with a date and a zone, such as 2026-03-01T12:00:00Z; ' +
    'a plus sign in a query is written %2B',
});

/** A digit after the milliseconds that is not 0. */
const submillisecond = /\.\d{3}\d*[1-9]/;

/** Milliseconds since 1970, rounded up, so that `modified_after` returns nothing earlier. */
const millisecondsOf = (text: string): number => Date.parse(text) + (submillisecond.test(text) ? 1 : 0);

const format = 'ISO 8601 with a date and a zone (Z or ±hh:mm), or a date alone, which means midnight UTC.';

/**
 * A timestamp in a request. Becomes ISO 8601 in UTC with milliseconds. Source: docs/contracts/verify-projects.md; the
 * accepted forms are our choice.
 */
export const timestamp = (description: string) =>
  iso8601
    .transform((text, context) => {
      const instant = new Date(millisecondsOf(text));
      const year = instant.getUTCFullYear();
      if (year < 1 || year > 9999) {
        context.addIssue('must lie in the years 0001 to 9999, in UTC');
        return z.NEVER;
      }
      return instant.toISOString();
    })
    .meta({ description: `${description} ${format}`, example: '2026-03-01T12:00:00.000Z' });
