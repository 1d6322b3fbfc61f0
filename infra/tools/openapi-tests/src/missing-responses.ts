import type { Operation } from './document.ts';

/** Statuses that bad input or a bad credential can always cause. The others depend on state or on a failure. */
const provokable = new Set(['400', '401', '403', '404', '415']);

/** Required responses that were never seen: one success, and every documented status in `provokable`. */
export const missingResponses = (
  operations: readonly Operation[],
  seen: ReadonlyMap<string, ReadonlySet<number>>,
  unreachable: readonly string[],
): string[] =>
  operations.flatMap(({ id, responses }) => {
    const got = seen.get(id) ?? new Set();
    const missed = Object.keys(responses).filter(
      (status) => provokable.has(status) && !got.has(Number(status)),
    );
    const success = [...got].some((status) => status < 400) ? [] : ['success'];
    return [...success, ...missed]
      .filter((status) => !unreachable.includes(`${id} ${status}`))
      .map((status) => `${id} never answered ${status}`);
  });
