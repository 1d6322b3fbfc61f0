import { BadRequest, ValidationFailed } from './problem.ts';

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new BadRequest('bad_encoding', 'The query string is not valid percent-encoded UTF-8.', error);
  }
};

/** Parameter names by their lower-case form. */
export type Spelling = ReadonlyMap<string, string>;

export const spellingOf = (names: readonly string[]): Spelling =>
  new Map(names.map((name) => [name.toLowerCase(), name]));

/**
 * Reads the query of a request target strictly: every name at most once, every escape valid UTF-8.
 *
 * Names in `spelling` are matched without regard to case and returned with its spelling.
 * Throws BadRequest `bad_encoding` or ValidationFailed naming the repeated parameter.
 */
export const parseQuery = (target: string, spelling?: Spelling): Record<string, string> => {
  const mark = target.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (mark === -1) return query;
  for (const pair of target.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const sent = decode(equals === -1 ? pair : pair.slice(0, equals));
    const name = spelling?.get(sent.toLowerCase()) ?? sent;
    if (name in query) throw new ValidationFailed({ [name]: ['may be given only once'] });
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return query;
};
