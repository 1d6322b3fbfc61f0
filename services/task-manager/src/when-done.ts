import { noStore } from '@platform/service-kit/record-versions';

/** The answer without a body of an operation, when its work is done. */
export const whenDone = async <Status extends 202 | 204>(status: Status, work: Promise<void>) => {
  await work;
  return { status, headers: noStore };
};
