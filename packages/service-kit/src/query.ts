import { BadRequest, ValidationFailed } from './problem.ts';

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new BadRequest('bad_encoding', 'The query string is not valid percent-encoded UTF-8.', error);
  }
};

/**
 * Reads the query of a request target strictly: every name at most once, every escape valid UTF-8.
 *
 * `names`, when given, are matched without regard to case and come back spelled as listed there.
 * Throws BadRequest `bad_encoding` or ValidationFailed naming the repeated parameter.
 */
export const parseQuery = (target: string, names?: readonly string[]): Record<string, string> => {
  const mark = target.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (mark === -1) return query;
  const spelling = names && new Map(names.map((name) => [name.toLowerCase(), name]));
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
