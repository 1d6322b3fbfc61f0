import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';

/** At most this many errors are reported, because a large invalid body can have millions. */
export const maxErrors = 100;

/** Adds the first hundred errors of a schema to `errors`, by path; `whole` is the name for an empty path. */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): void => {
  const all = issues
    .slice(0, maxErrors)
    .flatMap((issue): [string, string][] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, maxErrors).map((key) => [[...issue.path, key].join('.'), 'is not known here'])
        : [[issue.path.length === 0 ? whole : issue.path.join('.'), issue.message]],
    );
  for (const [name, message] of all.slice(0, maxErrors)) (errors[name] ??= []).push(message);
};
