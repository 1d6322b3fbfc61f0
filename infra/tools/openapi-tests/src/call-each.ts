import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import type { Operation } from './document.ts';
import { runSettings } from './env.ts';
import { openExamination, type Subject } from './examination.ts';
import { examplePlansOf } from './plan.ts';

/** Some valid requests are refused for reasons that no schema can express. */
const ATTEMPTS = 60;

/**
 * Sends valid requests to each operation of a running service until one succeeds.
 * @returns one text for each operation that answered 5xx or what its document lacks, or that never succeeded
 */
export const callEachOperation = async (subject: Subject): Promise<string[]> => {
  const { operations, valueOf, ask } = await openExamination(subject);
  const { seed } = runSettings();
  const faultOf = async (operation: Operation): Promise<string | undefined> => {
    const settings = { seed: seed + crc32(operation.id), numRuns: ATTEMPTS };
    const statuses = new Set<number>();
    let fault: string | undefined;
    const plans = fc.sample(examplePlansOf(operation, valueOf), settings);
    // What examples name comes last: the running platform may need it, such as the token of the demo's store.
    for (const plan of plans.toSorted((a, b) => Number(a.resource === null) - Number(b.resource === null))) {
      const status = await ask(operation, plan).catch((error: unknown) => {
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
