import { createHash } from 'node:crypto';
import { attemptsWithin, backoff } from '@platform/service-kit/backoff';
import type { Sql } from 'postgres';
import type { Change, OfferedList } from './changes.ts';
import { secretOf } from './secret.ts';
import type { Outcome, Send } from './send.ts';
import type { Subscription } from './subscription.ts';

/** A row of `subscription_attempts`. */
export interface Attempt extends Omit<Outcome, 'retryAfterMs'> {
  event: string;
  type: string;
  /** Null for a test; so is `version`. */
  record: string | null;
  version: number | null;
  attempt: number;
}

/** A change that was not delivered: it is due again after `dueInMs`, or has finally `failed`. */
export interface Held extends Change {
  dueInMs: number;
  failed: boolean;
}

/** The result of delivering a window of changes. */
export interface Result {
  attempts: Attempt[];
  delivered: Change[];
  held: Held[];
  /** The last change that was delivered or is held; undefined if there is none. */
  last: Change | undefined;
  /** Failures since the last success. */
  failures: number;
  /** Milliseconds until the next request may be sent. */
  pauseMs: number;
  /** The subscriber answered 410 (Gone). */
  isGone: boolean;
}

export interface Delivery<Caller> {
  subscription: Subscription;
  lists: readonly OfferedList<Caller>[];
  caller: Caller;
  changes: readonly Change[];
}

export interface DeliverOptions {
  sql: Sql;
  send: Send;
  /** Keys from which secrets are derived; each signs. */
  keys: readonly string[];
  /** Returns true when no new requests may start. */
  isStopping: () => boolean;
  /** Aborts running requests. */
  aborted: AbortSignal;
}

/** Maximum concurrent requests of one subscription. */
const maxRunning = 32;
/** A window starts no new requests after this time. */
const windowMs = 2000;
/** After this many failures in a row the address gets one request at a time, each after a pause. */
const maxFailures = 5;
const retryBaseMs = 10_000;
const pauseBaseMs = 5000;
/** Number of attempts within a day. */
const maxAttempts = attemptsWithin(24, retryBaseMs);

/** The id of a change: the same for each attempt. A new change at the same position after a restore gets another id. */
const eventOf = ({ list, record, position, changedAt }: Change): string =>
  `evt_${createHash('sha256')
    .update(JSON.stringify([list, record, position, changedAt]))
    .digest('base64url')
    .slice(0, 22)}`;

/** The event type for records with this name, such as `inventory_item.updated`. */
export const typeOf = (name: string, action: string): string => `${name.replaceAll(' ', '_')}.${action}`;

/** The secrets that sign for a subscription, newest first. */
export const secretsOf = (keys: readonly string[], subscription: Subscription): string[] => {
  const { id, generation, isRotating } = subscription;
  const generations = isRotating ? [generation, generation - 1] : [generation];
  return generations.flatMap((number) => keys.map((key) => secretOf(key, { id, generation: number })));
};

const readItems = async <Caller>(
  sql: Sql,
  { lists, caller, changes }: Delivery<Caller>,
): Promise<(change: Change) => string | undefined> => {
  const texts = new Map<string, ReadonlyMap<string, string>>();
  for (const { list, items } of lists) {
    const toRead = changes.filter(
      (change) => change.list === list && change.action !== 'deleted' && !change.waits,
    );
    const ids = new Set(toRead.map(({ record }) => record));
    if (ids.size > 0) texts.set(list, await items(sql, [...ids], caller));
  }
  return ({ list, record, action }) => (action === 'deleted' ? undefined : texts.get(list)?.get(record));
};

/** Creates a function that delivers changes for some seconds, in order within each lane. */
export const createDeliver =
  ({ sql, send, keys, isStopping, aborted }: DeliverOptions) =>
  async <Caller>(delivery: Delivery<Caller>): Promise<Result> => {
    const { subscription, lists, changes } = delivery;
    const itemOf = await readItems(sql, delivery);
    const names = new Map(lists.map(({ list, name }) => [list, name]));
    const secrets = secretsOf(keys, subscription);
    const result: Result = {
      attempts: [],
      delivered: [],
      held: [],
      last: undefined,
      failures: subscription.failures,
      pauseMs: 0,
      isGone: false,
    };
    const end = performance.now() + windowMs;
    const isOver = () => isStopping() || performance.now() > end || result.isGone || result.pauseMs > 0;

    const messageOf = (change: Change) => {
      const { record: id, position, action, list, changedAt: timestamp } = change;
      const type = typeOf(names.get(list) ?? list, action);
      const item = itemOf(change);
      const data = JSON.stringify({ id, version: Number(position) });
      const withItem = item === undefined ? data : `${data.slice(0, -1)},"item":${item}}`;
      const body = `${JSON.stringify({ type, timestamp }).slice(0, -1)},"data":${withItem}}`;
      return {
        type,
        body,
        event: eventOf(change),
        subject: subscription.subject,
        url: subscription.url,
        secrets,
      };
    };
    /** Counts a failure of the subscriber. Concurrent failures do not lengthen the pause. */
    const countFailure = ({ status, retryAfterMs = 0 }: Outcome): void => {
      result.failures = Math.min(result.failures + 1, Math.max(maxFailures, subscription.failures + 1));
      const excess = result.failures - maxFailures;
      const pauseMs = excess >= 0 ? backoff(excess + 1, pauseBaseMs) : 0;
      result.pauseMs = Math.max(result.pauseMs, pauseMs, retryAfterMs);
      result.isGone ||= status === 410;
    };
    /** Delivers a change after the one before it. Resolves with whether the next change of the lane may be delivered. */
    const deliverOne = async (change: Change, before: Promise<boolean> | undefined): Promise<boolean> => {
      const hold = (attempts: number, dueInMs: number, isFinal: boolean): boolean => {
        result.held.push({ ...change, attempts, dueInMs, failed: isFinal });
        return isFinal;
      };
      const isNext = before === undefined ? !change.waits : await before;
      const message = messageOf(change);
      const sent = isNext ? await send(message, { isOver, aborted }) : undefined;
      if (sent === undefined) return hold(change.attempts, 0, false);
      const { retryAfterMs, ...fields } = sent;
      const attempt = change.attempts + 1;
      const { event, type } = message;
      const { record, position } = change;
      result.attempts.push({ ...fields, event, type, record, version: Number(position), attempt });
      if (sent.error === null) {
        result.failures = 0;
        result.delivered.push(change);
        return true;
      }
      countFailure(sent);
      return hold(
        attempt,
        Math.max(backoff(attempt, retryBaseMs), retryAfterMs ?? 0),
        attempt >= maxAttempts,
      );
    };

    const running = new Set<Promise<unknown>>();
    const lanes = new Map<string, Promise<boolean>>();
    for (const change of changes) {
      while (running.size >= (result.failures >= maxFailures ? 1 : maxRunning)) await Promise.race(running);
      if (isOver()) break;
      const task = deliverOne(change, lanes.get(change.lane));
      lanes.set(change.lane, task);
      const tracked = task.finally(() => running.delete(tracked));
      running.add(tracked);
      result.last = change;
    }
    await Promise.all(running);
    return result;
  };
