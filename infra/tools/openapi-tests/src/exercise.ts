import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { sendHead, type Credential } from './send.ts';
import type { Operation } from './document.ts';
import { runSettings } from './env.ts';
import { createCheckedClient, type Subject } from './checked-client.ts';
import { refusalPlansOf, plansOf, examplePlansOf, type Plan } from './plan.ts';

/**
 * Finds operations that read the body of a caller without a credential before they refuse the caller: the gateway streams
 * bodies, so anonymous callers could fill the memory of the service. Gives up after `limitMs`, because such an operation
 * waits for the body, which is never sent.
 */
const findWaitingForBody = async (
  url: string,
  operations: readonly Operation[],
  credentials: Record<string, Credential>,
  limitMs: number,
): Promise<string[]> => {
  // A signature covers the body, so the service must read the body first.
  const isInHead = (scheme: string): boolean => typeof credentials[scheme] !== 'function';
  const protectedOperations = operations.filter(
    ({ body, security }) => body !== undefined && security.length > 0 && security.flat().every(isInHead),
  );
  const faults = protectedOperations.map(async ({ id, method, template, body = {} }) => {
    const target = template.replaceAll(/\{\w+\}/g, 'x');
    const headers = { Host: 'service.example.test', 'Content-Type': Object.keys(body)[0] ?? '' };
    const status = await sendHead(url, { method, target, headers }, limitMs);
    if (status === 401) return [];
    return [`${id} must answer 401 before it reads a body, not ${status ?? 'wait for it'}`];
  });
  return (await Promise.all(faults)).flat();
};

/** Statuses that bad input or a bad credential can always cause. Other statuses depend on state or on a failure. */
const provokable = new Set(['400', '401', '403', '404', '415']);

/** Finds required responses that never occurred: one success, and every documented status in `provokable`. */
const missingResponses = (
  operations: readonly Operation[],
  seen: ReadonlyMap<string, ReadonlySet<number>>,
  unreachable: readonly string[],
): string[] =>
  operations.flatMap(({ id, responses }) => {
    const seenStatuses = seen.get(id) ?? new Set();
    const missing = Object.keys(responses).filter(
      (status) => provokable.has(status) && !seenStatuses.has(Number(status)),
    );
    if (![...seenStatuses].some((status) => status < 400)) missing.unshift('success');
    return missing
      .filter((status) => !unreachable.includes(`${id} ${status}`))
      .map((status) => `${id} never answered ${status}`);
  });

/** Attempts for each required response: some valid requests are refused for reasons that no schema can express. */
const REFUSAL_RUNS = 8;

/**
 * Sends valid and invalid requests to every operation of a running service and compares each response with the document
 * (README.md lists the checks).
 * @returns one text for each fault, including each required response that never occurred
 */
export const exercise = async (subject: Subject): Promise<string[]> => {
  const { url, credentials, unreachable = [], refusalLimitMs = 120_000 } = subject;
  const { operations, valueOf, edgeOf, call } = await createCheckedClient(subject);
  const seen = new Map<string, Set<number>>(operations.map(({ id }) => [id, new Set()]));
  const { seed, runs } = runSettings();

  const faults: string[] = [];
  const checkProperty = async (
    operation: Operation,
    plans: fc.Arbitrary<Plan[]>,
    numRuns: number,
  ): Promise<void> => {
    const property = fc.asyncProperty(plans, async (requests) => {
      for (const plan of requests) seen.get(operation.id)?.add(await call(operation, plan));
    });
    // With one seed for all, every operation would generate the same ids.
    const parameters = { seed: seed + crc32(operation.id), numRuns };
    const { failed, errorInstance } = await fc.check(property, parameters);
    if (failed) faults.push(`${operation.id} (EXERCISE_SEED=${seed}): ${String(errorInstance)}`);
  };
  for (const operation of operations) {
    await checkProperty(
      operation,
      plansOf(operation, valueOf, edgeOf).map((plan) => [plan]),
      runs,
    );
    await checkProperty(operation, refusalPlansOf(operation, valueOf), REFUSAL_RUNS);
  }
  return [
    ...faults,
    ...missingResponses(operations, seen, unreachable),
    ...(await findWaitingForBody(url, operations, credentials, refusalLimitMs)),
  ];
};

/** Some valid requests are refused for reasons that no schema can express. */
const ATTEMPTS = 60;

/**
 * Sends valid requests to each operation of a running service until one succeeds.
 * @returns one text for each operation with a response that is 5xx or differs from the document, or that never succeeded
 */
export const callEachOperation = async (subject: Subject): Promise<string[]> => {
  const { operations, valueOf, call } = await createCheckedClient(subject);
  const { seed } = runSettings();
  const faultOf = async (operation: Operation): Promise<string | undefined> => {
    const settings = { seed: seed + crc32(operation.id), numRuns: ATTEMPTS };
    const statuses = new Set<number>();
    let fault: string | undefined;
    const plans = fc.sample(examplePlansOf(operation, valueOf), settings);
    // Plans without an existing resource come last: an example may name a record that the platform needs.
    const ordered = plans.toSorted((a, b) => Number(a.resource === null) - Number(b.resource === null));
    for (const plan of ordered) {
      const status = await call(operation, plan).catch((error: unknown) => {
        fault ??= String(error);
        return 500;
      });
      if (status < 400) return fault;
      statuses.add(status);
    }
    return `never succeeded: ${[...statuses].join(', ')}${fault === undefined ? '' : `; ${fault}`}`;
  };
  const faults: string[] = [];
  for (const operation of operations) {
    const fault = await faultOf(operation);
    const isExpected = subject.unreachable?.includes(`${operation.id} success`);
    if (fault !== undefined && !isExpected) faults.push(`${operation.id}: ${fault}`);
  }
  return faults;
};
