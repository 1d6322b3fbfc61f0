import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';
import '../process/validation-messages.ts';

/** Maximum number of errors that are reported, because a large invalid body can have millions. */
export const maxErrors = 100;

/** Adds the first hundred errors of a schema to `errors`, by path. `root` replaces an empty path: `path`, `query` or `body`. */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  root: string,
): void => {
  const unknownKey = root === 'query' ? 'unknown parameter' : 'unknown field';
  const namedErrors = issues
    .slice(0, maxErrors)
    .flatMap((issue): [string, string][] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, maxErrors).map((key) => [[...issue.path, key].join('.'), unknownKey])
        : [[issue.path.length === 0 ? root : issue.path.join('.'), issue.message]],
    );
  for (const [name, message] of namedErrors.slice(0, maxErrors)) (errors[name] ??= []).push(message);
};
