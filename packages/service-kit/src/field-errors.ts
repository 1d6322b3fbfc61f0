import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';

/** Adds what a schema refused to `errors`, by path; `whole` names the value where the path is empty. */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): void => {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) (errors[[...issue.path, key].join('.')] ??= []).push('is not known here');
    } else (errors[issue.path.length === 0 ? whole : issue.path.join('.')] ??= []).push(issue.message);
  }
};
