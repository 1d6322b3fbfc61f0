import type { z } from 'zod';
import type { FieldErrors } from './problem.ts';

/** At most this many faults are reported: a large invalid body could have millions. */
const mostFaults = 100;

/** Name and message of everything that a schema refused. */
function* faultsOf(issues: readonly z.core.$ZodIssue[], whole: string): Iterable<[string, string]> {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield [[...issue.path, key].join('.'), 'is not known here'];
    } else yield [issue.path.length === 0 ? whole : issue.path.join('.'), issue.message];
  }
}

/**
 * Adds what a schema refused to `errors`, by path, the first hundred faults; `whole` names the value
 * where the path is empty.
 */
export const collectIssues = (
  errors: FieldErrors,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): void => {
  let count = 0;
  for (const [name, message] of faultsOf(issues, whole)) {
    if (count++ === mostFaults) return;
    (errors[name] ??= []).push(message);
  }
};
