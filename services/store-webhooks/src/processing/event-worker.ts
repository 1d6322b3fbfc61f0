import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '@platform/group-commit';
import { attemptsWithin, backoff } from '@platform/service-kit/backoff';
import { isDisconnected } from '@platform/service-kit/database-error';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import { inSpan } from '@platform/tracing/trace';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { finalState, Ignored, ProviderBusy, Stopped, Unprocessable } from '../errors.ts';
import { claim, createRoundRobinClaim, maxRoundRobinEvents } from '../inbox/claim-events.ts';
import { endEvent, endEvents, postponeEvents } from '../inbox/end-events.ts';
import { endOrphanedEvents } from '../inbox/erase-events.ts';
import type { ClaimedEvent, ClaimedRow } from '../inbox/event.ts';
import { heartbeatOf } from '../inbox/heartbeat.ts';
import type { EventWorker } from '../inbox/inbox.ts';
import { isWanted } from '../notifications/notice.ts';
import type { Change } from '../records/change.ts';
import { parsedBytes } from '../providers/payload-parsing.ts';
import { knownStores, storeMappedAt } from '../stores/use-cases.ts';
import { createCapacities, createPlanningLimit, type Capacity } from './capacity.ts';
import { applyChanges, eventTypes } from './event-types.ts';
import { ConnectionLost, createUnwrittenEvents, isSuspect } from './unwritten-events.ts';

const maxPauseMs = 3_600_000;

/**
 * Milliseconds until the next attempt of an event whose provider was not asked because it failed repeatedly. Grows with the
 * time that the event has already waited, up to an hour.
 */
export const pauseAfter = (waitedMs: number, minMs: number, jitter = Math.random()): number =>
  Math.round(Math.max(minMs, Math.min(waitedMs / 4, maxPauseMs) * (0.5 + jitter / 2)));

interface Planned {
  event: ClaimedEvent;
  change: Change;
  /** The length of the change as JSON, as it is written. */
  size: number;
}

/** The memory of the events that are planned and written, in bytes. */
const maxPlannedBytes = 24 * 2 ** 20;
/** Maximum number of events in a batch, and of bytes that one statement writes. */
const [maxBatch, maxBatchBytes] = [256, 8 * 2 ** 20];
/**
 * Pause after a batch, so that the next one grows: a batch of any size needs six round trips and a commit, and no sender
 * waits for it.
 */
const batchPauseMs = 10;
/** Minimum free capacity for a claim, in events. */
const minClaim = 64;
/** How many leases a running worker may keep an event. After that the event is due again, because the worker has lost it. */
const maxLeases = 20;

/** An event that this many workers in a row crashed with is not tried again. */
const maxCrashes = 10;

/** Some claims of a batch are not valid any more, so it is rolled back and its events are tried one by one. */
class ClaimLost extends Error {}

/**
 * Claims events, plans each one separately, then applies and ends them together in one transaction. `onRoom` is called when
 * there is room for events that had to wait.
 */
export const createEventWorker = (context: Context, onRoom: () => void) => {
  const { database, env, tracker, inbox, now } = context;
  const { sql } = database;
  const mails = env.SMTP_URL !== undefined;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  const claimer = { worker: v7(), keepMs: maxLeases * env.LEASE_MS };
  const { beat, isAlive, remove } = heartbeatOf(sql, claimer.worker, env.LEASE_MS);
  const claimRoundRobin = createRoundRobinClaim(sql, claimer);
  const inProgress = new Set<Promise<void>>();
  const unwritten = createUnwrittenEvents(context, maxAttempts);
  const { stored, queued } = createCapacities();
  const planning = createPlanningLimit(maxPlannedBytes);
  let suspects = 0;
  /** Whether the last round claimed nothing for lack of capacity. */
  let isBehind = false;

  const applyAll = async (planned: readonly Planned[]): Promise<void> => {
    const events = planned.map(({ event }) => event);
    let hasStarted = false;
    const transaction = sql.begin(async (tx) => {
      hasStarted = true;
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
      throw hasStarted && isDisconnected(error) ? new ConnectionLost(error) : error;
    });
    const mayImport = planned.some(({ change }) => change.kind === 'member' && change.importsUnknown);
    if (released > 0 || mayImport) inbox.wake();
  };
  const batches = createBatcher<Planned, void>({
    flush: async (planned) => {
      await applyAll(planned);
      if (planned.length > 1 && batches.waiting() < maxBatch) await sleep(batchPauseMs);
      return planned.map(() => undefined);
    },
    maxBatch,
    sizeOf: ({ size }) => size,
    maxBatchSize: maxBatchBytes,
    maxQueue: stored.maxEvents + queued.maxEvents,
    maxInFlight: 1,
    // The events of a failed batch are tried again one by one: applying an event twice changes nothing, and one event must not
    // fail the others. Without a connection each of them would fail too.
    isRolledBack: (error) => !isDisconnected(error),
  });

  /** Ends an event that was not processed, or makes it due again. */
  const endOrPostpone = async (event: ClaimedEvent, cause: unknown): Promise<void> => {
    const error = safeErrorMessage(cause);
    const state = finalState(cause);
    if (state === 'ignored') return endEvent(sql, event, state, error);
    if (cause instanceof Stopped)
      return postponeEvents(sql, [event], { delayMs: 0, error, isAttempt: false });
    const waitedMs = now().getTime() - Date.parse(event.queuedAt);
    // The provider was not asked, so this is no attempt.
    if (cause instanceof ProviderBusy && waitedMs < env.RETRY_FOR_HOURS * 3_600_000) {
      const delayMs = cause.circuit === 'open' ? pauseAfter(waitedMs, cause.waitMs) : cause.waitMs;
      return postponeEvents(sql, [event], { delayMs, error, isAttempt: false });
    }
    const { storeId, id: eventId, attempts: attempt } = event;
    tracker.capture(cause, { storeId, event: event.event, eventId, attempt });
    if (state === 'failed' || cause instanceof ProviderBusy || attempt >= maxAttempts)
      return endEvent(sql, event, 'failed', error);
    const delayMs = backoff(attempt, env.RETRY_BASE_MS);
    return postponeEvents(sql, [event], { delayMs, error, isAttempt: true });
  };

  const processEvent = async (event: ClaimedEvent): Promise<void> => {
    try {
      if (event.store.deletedAt !== null) throw new Ignored('store_deleted');
      // Processing this event may be what crashed the earlier workers.
      if (event.crashes >= maxCrashes)
        throw new Unprocessable('Ten workers crashed while processing this event.');
      using admission = await planning.enter(
        event.storeId,
        parsedBytes(event.body, event.headers['content-type']),
      );
      if (context.stopping.signal.aborted) throw new Stopped();
      // A changed mapping must not read masked fields of events that are already in the queue.
      const store = event.isRemapped
        ? event.store
        : await storeMappedAt(context, event.store, event.receivedAt);
      const change = await context.reading([event.storeId], () =>
        eventTypes[event.event].plan(context, { ...event, store }),
      );
      const planned = { event, change, size: JSON.stringify(change).length };
      // The answer of a provider may be much larger than the body.
      admission.grow(planned.size);
      await (isSuspect(event) ? applyAll([planned]) : batches.add(planned));
    } catch (error) {
      if (isDisconnected(error)) unwritten.keep([event], error);
      else await endOrPostpone(event, error).catch((err: unknown) => unwritten.keep([event], err));
      inbox.wake();
    }
  };

  /** Adds the stores of events. Ends events of unknown stores, which exist after an old backup was restored. */
  const withStores = async (events: readonly ClaimedRow[]): Promise<ClaimedEvent[]> => {
    const stores = await knownStores(context, new Set(events.map(({ storeId }) => storeId)));
    const [known, orphaned] = [[] as ClaimedEvent[], [] as ClaimedRow[]];
    for (const event of events) {
      const store = stores.get(event.storeId);
      if (store === undefined) orphaned.push(event);
      else known.push({ ...event, store });
    }
    if (orphaned.length > 0) {
      context.log.warn(
        { storeIds: [...new Set(orphaned.map(({ storeId }) => storeId))] },
        'events of unknown stores are ignored',
      );
      await endOrphanedEvents(sql, orphaned);
    }
    return known;
  };

  const startProcessing = (event: ClaimedEvent, capacity: Capacity): void => {
    const { length } = event.body;
    capacity.events++;
    capacity.bytes += length;
    if (isSuspect(event)) suspects++;
    const work = inSpan(`process ${event.event}`, () => processEvent(event)).finally(() => {
      inProgress.delete(work);
      capacity.events--;
      capacity.bytes -= length;
      if (isSuspect(event)) suspects--;
      if (isBehind || isSuspect(event)) onRoom();
    });
    inProgress.add(work);
  };

  return {
    claimer,
    hasRoom: (count: number, size: number): boolean =>
      isAlive() && stored.events + count <= stored.maxEvents && stored.bytes + size <= stored.maxBytes,
    isFull: planning.isFull,
    startProcessing: (event: ClaimedEvent): void => startProcessing(event, stored),
    /** Claims events while there is capacity and starts processing them; returns whether there were any. */
    round: async (): Promise<boolean> => {
      const room = Math.min(queued.maxEvents - maxRoundRobinEvents - queued.events, maxBatch);
      isBehind = room < minClaim || queued.bytes > queued.maxBytes;
      if (isBehind) return false;
      const claimed: ClaimedRow[] = [];
      try {
        if (suspects === 0) claimed.push(...(await claim(sql, claimer, 1, 'suspects')));
        const events = await claim(sql, claimer, room);
        claimed.push(...events);
        // One store may have filled the claim, so the next stores get some events too.
        if (events.length >= minClaim) claimed.push(...(await claimRoundRobin()));
        for (const event of await withStores(claimed)) startProcessing(event, queued);
        return events.length > 0;
      } catch (error) {
        // None of them was started, so nothing else would release them while this worker is alive.
        unwritten.keep(claimed, error);
        throw error;
      }
    },
    /** Writes the heartbeat of this worker and makes the events of dead workers due. Call it several times per LEASE_MS. */
    beat: async () => {
      const { due } = await beat();
      if (await unwritten.requeue()) due.add('events');
      return due;
    },
    /** Resolves when no event is being processed. */
    idle: async (): Promise<void> => {
      while (inProgress.size > 0) await Promise.allSettled(inProgress);
    },
    isAlive,
    /** Removes the worker. Call it when it is idle. */
    remove,
  } satisfies Omit<EventWorker, 'wake'> & Record<string, unknown>;
};
