import { noStore } from '@platform/service-kit/record-versions';

/** Waits for the work of an operation and returns its response without a body. */
export const emptyResponse = async <Status extends 202 | 204>(status: Status, work: Promise<void>) => {
  await work;
  return { status, headers: noStore };
};
