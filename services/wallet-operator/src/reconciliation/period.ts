import { ValidationFailed } from '@platform/service-kit/problem';
import type { ReadLine } from './statement.ts';

export interface Period {
  from: string;
  to: string;
  /** Seconds. */
  tolerance: number;
}

/**
 * Passes on the lines of a statement. What lies outside of the period is not compared, so a statement of another period
 * would seem to agree with the ledger: throws ValidationFailed at its end when no line is in the period. A line without
 * a time counts as inside, and so does one that is outside by less than the tolerance (in seconds).
 */
export async function* expectInPeriod(
  lines: AsyncIterable<ReadLine[]>,
  { from, to, tolerance }: Period,
): AsyncGenerator<ReadLine[], void> {
  const [begin, end] = [Date.parse(from) - tolerance * 1000, Date.parse(to) + tolerance * 1000];
  const isInside = ({ content: { time } }: ReadLine): boolean =>
    time === undefined || (Date.parse(time) >= begin && Date.parse(time) < end);
  let first: ReadLine | undefined;
  let hasInside = false;
  for await (const read of lines) {
    first ??= read[0];
    hasInside ||= read.some(isInside);
    yield read;
  }
  if (first !== undefined && !hasInside)
    throw new ValidationFailed({
      from: [`no line lies between \`from\` and \`to\`; the time of the first line is ${first.content.time}`],
    });
}
