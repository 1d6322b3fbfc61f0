import { randomUUID } from 'node:crypto';
import { moveChanges } from '@platform/feed/log';
import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import { firstWithinBytes, readHeld, readLog, type Change, type OfferedList } from './changes.ts';
import { createDeliver, type Result } from './deliver.ts';
import type { Send } from './send.ts';
import { deleteErasedAnswers, saveResult } from './save-result.ts';
import { claim, disable, pause, release, type Subscription } from './subscription.ts';

export interface DispatchOptions<Caller> {
  sql: Sql;
  log: Log;
  send: Send;
  keys: readonly string[];
  lists: ReadonlyMap<string, OfferedList<Caller>>;
  /** Restores the subscription's creator from the stored rights; undefined if they no longer allow reading. */
  restore(rights: unknown): Promise<Caller | undefined>;
  /** Called with the result of each window. */
  onResult(result: Result): void;
}

/** Maximum number of subscriptions that a process serves at the same time, and the length of a subscription's turn. */
const maxSubscriptions = 200;
const turnMs = 30_000;
/** How long running requests may continue when the process stops. */
const graceMs = 3000;

/** A subject has one window with more bytes at a time, because its items are in memory until they are sent. */
const smallWindow = 65_536;

/** Delivers in the background until disposed of. Any number of instances may run it. */
export const startDispatch = <Caller>(options: DispatchOptions<Caller>) => {
  const { sql, log, send, keys, lists, restore, onResult } = options;
  const worker = randomUUID();
  const running = new Set<Promise<void>>();
  /** Subjects with a large window in progress. */
  const subjectsWithLargeWindow = new Set<string>();
  const abort = new AbortController();
  let isStopping = false;
  const deliver = createDeliver({ sql, send, keys, isStopping: () => isStopping, aborted: abort.signal });

  /** Delivers a window. Returns undefined if there was nothing to deliver or another worker has claimed the subscription. */
  const deliverWindow = async (subscription: Subscription): Promise<Subscription | undefined> => {
    const caller = await restore(subscription.rights);
    if (caller === undefined) return void (await disable(sql, subscription, 'rights'));
    const followedLists = subscription.lists.flatMap((list) => lists.get(list) ?? []);
    const save = async (result: Result, position?: string) => {
      onResult(result);
      return saveResult(sql, worker, subscription, result, position);
    };
    /** Returns undefined while another large window of its subject is in progress. */
    const deliverFirst = async (window: readonly Change[]): Promise<Result | undefined> => {
      const { subject } = subscription;
      const { changes, bytes } = await firstWithinBytes(sql, followedLists, window, caller);
      const isLarge = bytes > smallWindow;
      if (isLarge && subjectsWithLargeWindow.has(subject)) return undefined;
      if (isLarge) subjectsWithLargeWindow.add(subject);
      try {
        return await deliver({ subscription, lists: followedLists, caller, changes });
      } finally {
        if (isLarge) subjectsWithLargeWindow.delete(subject);
      }
    };
    const held = await readHeld(sql, subscription);
    if (held.length > 0) {
      const result = await deliverFirst(held);
      return result && save(result);
    }
    const { isExpired, isFull, end, changes } = await readLog(sql, subscription, followedLists, caller);
    if (isExpired) return void (await disable(sql, subscription, 'expired'));
    if (isFull) return void (await pause(sql, worker, subscription));
    if (end === subscription.position) return undefined;
    const result = await deliverFirst(changes);
    if (result === undefined) return undefined;
    const isWhole = result.last === changes.at(-1);
    return save(result, isWhole ? end : result.last?.position);
  };
  const serve = async (claimed: Subscription): Promise<void> => {
    const end = performance.now() + turnMs;
    let subscription: Subscription | undefined = claimed;
    try {
      while (subscription?.isDue && !isStopping && performance.now() < end)
        subscription = await deliverWindow(subscription);
      await release(sql, worker, claimed);
    } catch (err) {
      // The subscription is not released, because its lease expires.
      log.warn({ err }, 'the deliveries of a subscription failed');
    }
  };
  const run = async (): Promise<boolean | void> => {
    while (await deleteErasedAnswers(sql));
    const [{ isAny }] = await sql<[{ isAny: boolean }]>`
      select exists (select from subscriptions where state = 'active') as "isAny"`;
    if (!isAny || lists.size === 0) return false;
    while (await moveChanges(sql));
    for (const claimed of await claim(sql, worker, maxSubscriptions - running.size)) {
      const task = serve(claimed).finally(() => running.delete(task));
      running.add(task);
    }
    return undefined;
  };
  const background = startBackground({ name: 'outgoing webhooks', everyMs: 500, idleMs: 10_000, log, run });
  return {
    /** Call it when there may be another active subscription. */
    hint: background.hint,
    [Symbol.asyncDispose]: async () => {
      isStopping = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      await background[Symbol.asyncDispose]();
      await Promise.all(running);
      clearTimeout(timer);
    },
  };
};
