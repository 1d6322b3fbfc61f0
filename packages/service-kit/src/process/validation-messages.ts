import { z } from 'zod';

/** zod's name of a type → words for the message. */
const typeTexts: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const formatTexts: Record<string, string> = {
  date: 'a date such as 2026-01-31',
  datetime: 'an ISO 8601 time such as 2026-01-31T12:00:00.000Z',
  email: 'an email address',
  guid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  url: 'a URL',
  uuid: 'a UUID',
};

const units: Record<string, string> = { array: 'item', string: 'character' };

/** The message for a wrong size, such as "must be at most 128 characters" or "must have at least 3 items". */
const sizeText = (
  { origin, exact, inclusive }: Pick<z.core.$ZodIssueTooBig, 'origin' | 'exact' | 'inclusive'>,
  words: [inclusive: string, exclusive: string],
  limit: number | bigint,
): string => {
  const bound = `${exact ? 'exactly' : words[inclusive ? 0 : 1]} ${limit}`;
  const unit = units[origin];
  if (unit === undefined) return `must be ${bound}`;
  return `must ${origin === 'array' ? 'have' : 'be'} ${bound} ${unit}${limit === 1 ? '' : 's'}`;
};

const optionText = (value: unknown): string =>
  /^[\w-]+$/.test(String(value)) ? String(value) : JSON.stringify(value);

/** The messages of a union's branches that concern the whole value. */
const unionText = (branches: readonly (readonly z.core.$ZodIssue[])[]): string => {
  const issues = branches.flat().filter(({ path }) => path.length === 0);
  return [...new Set(issues.map(({ message }) => message))].join(', or ') || 'is not valid';
};

/** The message for a validation issue, without the value. */
const messageOf = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is missing'
        : `must be ${typeTexts[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(optionText).join(', ')}`;
    case 'too_small':
      return issue.minimum === 1 && issue.origin in units
        ? 'must not be empty'
        : sizeText(issue, ['at least', 'more than'], issue.minimum);
    case 'too_big':
      return sizeText(issue, ['at most', 'less than'], issue.maximum);
    case 'invalid_format':
      return `must be ${formatTexts[issue.format] ?? `in the format ${issue.pattern ?? issue.format}`}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'has unknown fields';
    case 'invalid_union':
      return unionText(issue.errors);
    case 'invalid_key':
      return 'is not an allowed name';
    default:
      return 'is not valid';
  }
};

// Applies to all schemas of a process that imports this file. A schema may still state its own message.
z.config({ localeError: messageOf });
