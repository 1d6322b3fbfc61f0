import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';

/** At most this many errors are reported, because a large invalid body can have millions. */
const maxErrors = 100;

/** Name and message of each error of a schema. */
function* errorsOf(issues: readonly z.core.$ZodIssue[], whole: string): Iterable<[string, string]> {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield [[...issue.path, key].join('.'), 'is not known here'];
    } else yield [issue.path.length === 0 ? whole : issue.path.join('.'), issue.message];
  }
}

/** Adds the first hundred errors of a schema to `errors`, by path; `whole` is the name for an empty path. */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): void => {
  let count = 0;
  for (const [name, message] of errorsOf(issues, whole)) {
    if (count++ === maxErrors) return;
    (errors[name] ??= []).push(message);
  }
};
