import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '@platform/group-commit';
import { attemptsWithin, backoff } from '@platform/service-kit/backoff';
import { isDisconnected } from '@platform/service-kit/database-error';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import { inSpan } from '@platform/tracing/trace';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { finalState, Ignored, ProviderBusy, Stopped, Unprocessable } from '../errors.ts';
import { claim, createTurns, maxInTurns } from '../inbox/claim-events.ts';
import { endEvent, endEvents, postponeEvents } from '../inbox/end-events.ts';
import type { ClaimedEvent, ClaimedRow } from '../inbox/event.ts';
import { heartbeatOf } from '../inbox/heartbeat.ts';
import type { EventWorker } from '../inbox/inbox.ts';
import { isWanted } from '../notifications/notice.ts';
import type { Change } from '../records/change.ts';
import { knownStores, storeMappedAt } from '../stores/use-cases.ts';
import { applyChanges, eventTypes } from './event-types.ts';
import { ConnectionLost, createUnwritten, isSuspect } from './unwritten-events.ts';

const ceilingMs = 3_600_000;

/**
 * Milliseconds until an event is tried again whose provider was not asked, because it failed repeatedly. Grows with the
 * time that the event has waited for it, up to an hour.
 */
export const pauseAfter = (waitedMs: number, leastMs: number, chance = Math.random()): number =>
  Math.round(Math.max(leastMs, Math.min(waitedMs / 4, ceilingMs) * (0.5 + chance / 2)));

interface Planned {
  event: ClaimedEvent;
  change: Change;
}

/** What is in processing, events that wait for a provider among them, and how much may be: events and their bytes. */
interface Places {
  readonly maxEvents: number;
  readonly maxBytes: number;
  events: number;
  bytes: number;
}

/** Events that were claimed when they were stored have places of their own, so that no replay delays new events. */
const createPlaces = (): Record<'stored' | 'queued', Places> => ({
  stored: { maxEvents: 768, maxBytes: 24 * 2 ** 20, events: 0, bytes: 0 },
  queued: { maxEvents: 512 + maxInTurns, maxBytes: 16 * 2 ** 20, events: 0, bytes: 0 },
});

const maxBatch = 256;
/**
 * Pause after a batch, in which the next one grows: a batch of any size needs six round trips and a commit, and no sender
 * waits for it.
 */
const restMs = 10;
/** Free places from which on it is worth claiming more. */
const minClaim = 64;
/** For how many leases a running worker may keep an event. Then the event is due again: the worker has lost track of it. */
const maxLeases = 20;

/** An event with which this many workers died in a row is not tried again. */
const maxCrashes = 10;

/** Some claims of a batch are not valid any more, so it is rolled back and its events are tried one by one. */
class ClaimLost extends Error {}

/**
 * Claims events, plans each one separately, then applies them together and ends them in the same transaction. `onRoom` is
 * called when there is room for events that had to wait.
 */
export const createEventWorker = (context: Context, onRoom: () => void) => {
  const { database, env, tracker, inbox, now } = context;
  const { sql } = database;
  const mails = env.SMTP_URL !== undefined;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  const claimer = { worker: v7(), keepMs: maxLeases * env.LEASE_MS };
  const heartbeat = heartbeatOf(sql, claimer.worker, env.LEASE_MS);
  const claimInTurns = createTurns(sql, claimer);
  const underWay = new Set<Promise<void>>();
  const unwritten = createUnwritten(context, maxAttempts);
  const { stored, queued } = createPlaces();
  /** Nothing is claimed before: claims of a worker that never reported would be kept if it died. */
  let isAlive = false;
  let suspects = 0;
  /** Whether there were more events in the queue than room. */
  let isBehind = false;

  const applyAll = async (planned: readonly Planned[]): Promise<void> => {
    const events = planned.map(({ event }) => event);
    let hasBegun = false;
    const transaction = sql.begin(async (tx) => {
      hasBegun = true;
      const { ended, released } = await endEvents(tx, events);
      if (ended < events.length) {
        if (events.length > 1) throw new ClaimLost();
        return released;
      }
      const changes = planned.map(({ event: { storeId, id, receivedAt: updatedAt }, change }) => ({
        storeId,
        eventId: id,
        updatedAt,
        change,
      }));
      const stores = new Map(events.map(({ storeId, store }) => [storeId, store.settings.notifications]));
      await applyChanges(tx, changes, (notice) => {
        const settings = stores.get(notice.storeId);
        return mails && settings !== undefined && isWanted(settings, notice);
      });
      return released;
    });
    const released = await transaction.catch((error: unknown) => {
      throw hasBegun && isDisconnected(error) ? new ConnectionLost(error) : error;
    });
    const mayImport = planned.some(({ change }) => change.kind === 'member' && change.importsUnknown);
    if (released > 0 || mayImport) inbox.wake();
  };
  const batches = createBatcher<Planned, void>({
    flush: async (planned) => {
      await applyAll(planned);
      if (planned.length > 1 && batches.waiting() < maxBatch) await sleep(restMs);
      return planned.map(() => undefined);
    },
    maxBatch,
    maxQueue: stored.maxEvents + queued.maxEvents,
    maxInFlight: 1,
    // Applying an event twice changes nothing, and one failing event must not fail the rest of its batch. Without a
    // connection the parts would fail like the whole.
    isRolledBack: (error) => !isDisconnected(error),
  });

  /** Ends an event that was not processed, or makes it due again. */
  const endOrPostpone = async (event: ClaimedEvent, cause: unknown): Promise<void> => {
    const error = safeErrorMessage(cause);
    const state = finalState(cause);
    if (state === 'ignored') return endEvent(sql, event, state, error);
    if (cause instanceof Stopped) return postponeEvents(sql, [event], { delayMs: 0, error, counts: false });
    const waitedMs = now().getTime() - Date.parse(event.queuedAt);
    // The provider was not asked, so this is no attempt.
    if (cause instanceof ProviderBusy && waitedMs < env.RETRY_FOR_HOURS * 3_600_000) {
      const delayMs = cause.circuit === 'open' ? pauseAfter(waitedMs, cause.waitMs) : cause.waitMs;
      return postponeEvents(sql, [event], { delayMs, error, counts: false });
    }
    const { storeId, id: eventId, attempts: attempt } = event;
    tracker.capture(cause, { storeId, event: event.event, eventId, attempt });
    if (state === 'failed' || cause instanceof ProviderBusy || attempt >= maxAttempts)
      return endEvent(sql, event, 'failed', error);
    const delayMs = backoff(attempt, env.RETRY_BASE_MS);
    return postponeEvents(sql, [event], { delayMs, error, counts: true });
  };

  const processEvent = async (event: ClaimedEvent): Promise<void> => {
    try {
      if (event.store.deletedAt !== null) throw new Ignored('store_deleted');
      // Processing this event may be what crashed the earlier workers.
      if (event.crashes >= maxCrashes)
        throw new Unprocessable('Ten workers crashed while processing this event.');
      // Who changes a mapping must not read with it what waits in the queue.
      const store = event.isRemapped
        ? event.store
        : await storeMappedAt(context, event.store, event.receivedAt);
      const planned = { event, change: await eventTypes[event.event].plan(context, { ...event, store }) };
      await (isSuspect(event) ? applyAll([planned]) : batches.add(planned));
    } catch (error) {
      if (isDisconnected(error)) unwritten.keep([event], error);
      else await endOrPostpone(event, error).catch((err: unknown) => unwritten.keep([event], err));
      inbox.wake();
    }
  };

  /** Ends events of unknown stores, as after the restore of an older backup: nothing else would process or delete them. */
  const withStores = async (events: readonly ClaimedRow[]): Promise<ClaimedEvent[]> => {
    const stores = await knownStores(context, new Set(events.map(({ storeId }) => storeId)));
    const [known, lost] = [[] as ClaimedEvent[], [] as ClaimedRow[]];
    for (const event of events) {
      const store = stores.get(event.storeId);
      if (store === undefined) lost.push(event);
      else known.push({ ...event, store });
    }
    if (lost.length > 0) {
      context.log.warn(
        { storeIds: [...new Set(lost.map(({ storeId }) => storeId))] },
        'events of unknown stores are ignored',
      );
      await sql.begin((tx) => endEvents(tx, lost, 'ignored', 'store_unknown'));
    }
    return known;
  };

  const begin = (event: ClaimedEvent, places: Places): void => {
    const { length } = event.body;
    places.events++;
    places.bytes += length;
    if (isSuspect(event)) suspects++;
    const work = inSpan(`process ${event.event}`, () => processEvent(event)).finally(() => {
      underWay.delete(work);
      places.events--;
      places.bytes -= length;
      if (isSuspect(event)) suspects--;
      if (isBehind || isSuspect(event)) onRoom();
    });
    underWay.add(work);
  };

  return {
    claimer,
    hasRoom: (count: number, size: number): boolean =>
      isAlive && stored.events + count <= stored.maxEvents && stored.bytes + size <= stored.maxBytes,
    begin: (event: ClaimedEvent): void => begin(event, stored),
    /** Claims events while there is capacity and starts processing them; returns whether there were any. */
    round: async (): Promise<boolean> => {
      const room = Math.min(queued.maxEvents - maxInTurns - queued.events, maxBatch);
      isBehind = room < minClaim || queued.bytes > queued.maxBytes;
      if (isBehind) return false;
      const claimed: ClaimedRow[] = [];
      try {
        if (suspects === 0) claimed.push(...(await claim(sql, claimer, 1, 'suspects')));
        const events = await claim(sql, claimer, room);
        claimed.push(...events);
        // There may be many more of one store.
        if (events.length >= minClaim) claimed.push(...(await claimInTurns()));
        for (const event of await withStores(claimed)) begin(event, queued);
        return events.length > 0;
      } catch (error) {
        // None of them was begun, so nothing else would give them back while this worker lives.
        unwritten.keep(claimed, error);
        throw error;
      }
    },
    /** Reports that this worker is alive, and makes the events of dead ones due; call it several times in LEASE_MS. */
    beat: async () => {
      const { due } = await heartbeat.beat();
      isAlive = true;
      const hasMore = await unwritten.giveBack();
      return { ...due, events: due.events || hasMore };
    },
    /** Resolves when no event is being processed. */
    idle: async (): Promise<void> => {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    /** Removes the worker. Call it when it is idle. */
    remove: heartbeat.remove,
  } satisfies Omit<EventWorker, 'wake'> & Record<string, unknown>;
};
