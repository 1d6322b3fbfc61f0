import type {} from '../http/message-fields.ts';
import type { ServerResponse } from 'node:http';
import { Unavailable } from '../http/problem.ts';

/** Bounds the memory of all request bodies of a process that are read into memory. */
export interface BodyBudget {
  /** Counts bytes that have arrived for the request of `res`. Throws Unavailable `too_busy` when there is no room for them. */
  take(res: ServerResponse, bytes: number): void;
}

/** Bodies above this size leave a quarter of the budget to smaller ones. */
const largeBody = 100_000;
const largeShare = 0.75;

const refusal = new Unavailable(
  'too_busy',
  'Too many large requests are arriving; try again shortly.',
  undefined,
  1,
);

/** A budget of `maxBytes`. What a client only announces does not count. */
export const createBodyBudget = (maxBytes: number): BodyBudget => {
  let used = 0;
  const release = function (this: ServerResponse): void {
    used -= this.bodyBytes ?? 0;
    this.bodyBytes = 0;
  };
  return {
    take: (res, bytes) => {
      if (res.bodyBytes === undefined) res.once('close', release);
      const own = (res.bodyBytes ?? 0) + bytes;
      if (used + bytes > maxBytes * (own > largeBody ? largeShare : 1)) {
        // The part of a refused body that has arrived is given back at once: of several large bodies that arrive together, one fits.
        release.call(res);
        throw refusal;
      }
      res.bodyBytes = own;
      used += bytes;
    },
  };
};
