import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';
import '../process/validation-messages.ts';

/** At most this many errors are reported, because a large invalid body can have millions. */
export const maxErrors = 100;

/** Adds the first hundred errors of a schema to `errors`, by path; `whole` is the name for an empty path, such as `query`. */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): void => {
  const unknown = whole === 'query' ? 'unknown parameter' : 'unknown field';
  const all = issues
    .slice(0, maxErrors)
    .flatMap((issue): [string, string][] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, maxErrors).map((key) => [[...issue.path, key].join('.'), unknown])
        : [[issue.path.length === 0 ? whole : issue.path.join('.'), issue.message]],
    );
  for (const [name, message] of all.slice(0, maxErrors)) (errors[name] ??= []).push(message);
};
