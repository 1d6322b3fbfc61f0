import type {} from '../http/message-fields.ts';
import type { ServerResponse } from 'node:http';
import { TooBusy } from '../http/problem.ts';
import type {} from './request-scope.ts';

/** Bounds the memory of all request bodies of a process that are read into memory. */
export interface BodyBudget {
  /** Counts bytes that have arrived for the request of `res`. Throws TooBusy when there is no room for them. */
  take(res: ServerResponse, bytes: number): void;
}

/** Bodies above this size leave a quarter of the budget to smaller ones, and those of one caller half of it to others. */
const largeBody = 100_000;
const largeShare = 0.75;
const callerShare = 0.5;

const refusal = new TooBusy('Too many large requests are arriving; try again shortly.');

/** However the credential was written, and whatever else was sent with it; without one the widest network. */
const callerOf = ({ req, callerKey }: ServerResponse): string =>
  callerKey === undefined ? `network ${req.scope?.network}` : `key ${callerKey}`;

/** A budget of `maxBytes`. What a client only announces does not count. */
export const createBodyBudget = (maxBytes: number): BodyBudget => {
  let used = 0;
  /** Bytes of large bodies. */
  const byCaller = new Map<string, number>();
  const countLarge = (caller: string, bytes: number): void => {
    const sum = (byCaller.get(caller) ?? 0) + bytes;
    if (sum > 0) byCaller.set(caller, sum);
    else byCaller.delete(caller);
  };
  const release = function (this: ServerResponse): void {
    const own = this.bodyBytes ?? 0;
    used -= own;
    if (this.bodyCaller !== undefined) countLarge(this.bodyCaller, -own);
    this.bodyBytes = 0;
    this.bodyCaller = undefined;
  };
  /** A body counts for its caller from the piece on that makes it large. */
  const hasRoom = (res: ServerResponse, own: number, bytes: number): boolean => {
    if (own <= largeBody) return used + bytes <= maxBytes;
    if (res.bodyCaller === undefined) countLarge((res.bodyCaller = callerOf(res)), own - bytes);
    const ofCaller = byCaller.get(res.bodyCaller) ?? 0;
    return used + bytes <= maxBytes * largeShare && ofCaller + bytes <= maxBytes * callerShare;
  };
  return {
    take: (res, bytes) => {
      if (res.bodyBytes === undefined) res.once('close', release);
      const own = (res.bodyBytes ?? 0) + bytes;
      if (!hasRoom(res, own, bytes)) {
        // The part of a refused body that has arrived is given back at once: of several large bodies that arrive together, one fits.
        release.call(res);
        throw refusal;
      }
      res.bodyBytes = own;
      used += bytes;
      if (res.bodyCaller !== undefined) countLarge(res.bodyCaller, bytes);
    },
  };
};
