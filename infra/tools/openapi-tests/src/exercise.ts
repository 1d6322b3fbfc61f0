import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import type { Operation } from './document.ts';
import { runSettings } from './env.ts';
import { openExamination, type Subject } from './examination.ts';
import { certainPlansOf, plansOf, type Plan } from './plan.ts';
import { waitsForBody } from './waits-for-body.ts';

/** Statuses that bad input or a bad credential can always cause. The others depend on state or on a failure. */
const provokable = new Set(['400', '401', '403', '404', '415']);

/** Required responses that were never seen: one success, and every documented status in `provokable`. */
const missingResponses = (
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

/** Attempts at each required response: some valid requests are refused for reasons that no schema can express. */
const ROUNDS = 8;

/**
 * Sends valid and invalid requests to every operation of a running service and compares each response with the document:
 * a documented status below 500, its media type, its schema, 401 and 403 where they are documented, 401 before the body
 * is read and with WWW-Authenticate, no request accepted that the document refuses, and a Location that answers GET in
 * the 201 of every POST.
 * @returns one text for each fault, and for each documented response that was never seen
 */
export const exercise = async (subject: Subject): Promise<string[]> => {
  const { url, credentials, unreachable = [], refusalLimitMs = 120_000 } = subject;
  const { operations, valueOf, edgeOf, ask } = await openExamination(subject);
  const seen = new Map<string, Set<number>>(operations.map(({ id }) => [id, new Set()]));
  const { seed, runs } = runSettings();

  const faults: string[] = [];
  const checkProperty = async (
    operation: Operation,
    plans: fc.Arbitrary<Plan[]>,
    numRuns: number,
  ): Promise<void> => {
    const property = fc.asyncProperty(plans, async (all) => {
      for (const plan of all) seen.get(operation.id)?.add(await ask(operation, plan));
    });
    // With one seed for all, every operation would generate the same ids.
    const own = { seed: seed + crc32(operation.id), numRuns };
    const { failed, errorInstance } = await fc.check(property, own);
    if (failed) faults.push(`${operation.id} (EXERCISE_SEED=${seed}): ${String(errorInstance)}`);
  };
  for (const operation of operations) {
    await checkProperty(
      operation,
      plansOf(operation, valueOf, edgeOf).map((plan) => [plan]),
      runs,
    );
    await checkProperty(operation, certainPlansOf(operation, valueOf), ROUNDS);
  }
  return [
    ...faults,
    ...missingResponses(operations, seen, unreachable),
    ...(await waitsForBody(url, operations, credentials, refusalLimitMs)),
  ];
};
