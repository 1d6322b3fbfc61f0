import { createBatcher } from '@platform/group-commit';
import type { Log } from '@platform/service-kit/log';
import { toProblem, Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import { isPaused, storePaused, type KnownStore } from '../stores/known-store.ts';
import type { Claimer } from './claim-events.ts';
import type { ClaimedEvent, ReceivedEvent, StoreResult } from './event.ts';
import { storeEvents } from './insert-events.ts';
import type { OutageSnapshot } from './spool/outage-snapshot.ts';
import { createSpool } from './spool/spool.ts';

/** A database that takes longer than this counts as unavailable, because senders wait only a few seconds. */
const timeoutMs = 2000;
/** The timeout while many events wait: with a longer one, further webhooks would be refused. */
const crowdedTimeoutMs = 250;
const checkMs = 50;

const databaseUnavailable = (): Unavailable =>
  new Unavailable('database_unavailable', 'The database is unavailable.');

/**
 * Rejects with `databaseUnavailable` if `work` takes too long; `work` itself continues. While this process is busy, timers fire
 * late and the answer may already have arrived, so the short timeout is counted in checks, not in time.
 */
const withTimeout = async <T>(isCrowded: () => boolean, work: Promise<T>): Promise<T> => {
  const startedAt = performance.now();
  let checks = 0;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      checks += 1;
      const isExpired = performance.now() - startedAt >= timeoutMs;
      if (isExpired || (checks * checkMs >= crowdedTimeoutMs && isCrowded())) reject(databaseUnavailable());
    }, checkMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearInterval(timer);
  }
};

/** A received event and its store. */
export interface EventToStore {
  event: ReceivedEvent;
  store: KnownStore;
}

/** The worker of this instance. It takes over events that were just stored, so that they need not be claimed and read again. */
export interface EventWorker {
  claimer: Claimer;
  /** Whether the worker has room for this number of events and this many bytes of their bodies. */
  hasRoom(events: number, bytes: number): boolean;
  /** Whether further events of the store would wait in this worker, so that another one may process them earlier. */
  isFull(storeId: string): boolean;
  /** Starts to process an event that was claimed for this worker when it was stored. */
  startProcessing(event: ClaimedEvent): void;
  /** Tells the worker that there are new events in the queue. */
  wake(): void;
}

interface InboxOptions {
  sql: Sql;
  log: Log;
  spoolFolder: string;
  spoolMaxBytes: number;
  snapshot: OutageSnapshot;
}

/**
 * Maximum number and total bytes of the events in one commit. In a larger batch each event takes PostgreSQL longer (57 µs at
 * 256 events, 50 µs at 64), and the next events wait longer for the statement.
 */
const [maxBatch, maxBatchBytes] = [64, 8 * 2 ** 20];
/** Maximum number of waiting events; further ones go directly to the spool. */
const maxQueue = 10_000;
/**
 * If more events or bytes than this wait for the next commit, MAX_IN_PROGRESS or the memory for bodies is soon exhausted and
 * further webhooks are refused.
 */
const [crowdedEvents, crowdedBytes] = [16, 4 * 2 ** 20];

const noWorker = { claimer: undefined, isFull: undefined };

const handOver = (worker: EventWorker, { event, store }: EventToStore): void => {
  const at = event.receivedAt.toISOString();
  worker.startProcessing({
    ...event,
    entity: event.entity ?? event.id,
    receivedAt: at,
    queuedAt: at,
    attempts: 1,
    worker: worker.claimer.worker,
    crashes: 0,
    isRemapped: false,
    store,
  });
};

/** Updates spooled events before they are stored: their store may have been erased or paused since they were received. */
const currentEvents = async (sql: Sql, events: readonly ReceivedEvent[]): Promise<ReceivedEvent[]> => {
  const ids = [...new Set(events.map(({ storeId }) => storeId))];
  const rows = await sql<Pick<KnownStore, 'id' | 'settings'>[]>`
    select id, settings from stores where id = any(${ids}::uuid[])`;
  const stores = new Map(rows.map((store) => [store.id, store]));
  return events.flatMap((event) => {
    const store = stores.get(event.storeId);
    if (store === undefined) return [];
    const isIgnored = isPaused(store) && event.state === 'pending';
    return [isIgnored ? { ...event, state: 'ignored', error: storePaused } : event];
  });
};

export type Inbox = ReturnType<typeof createInbox>;

/** Stores received events in the database, or in the spool while it is unavailable. */
export const createInbox = ({ sql, log, spoolFolder, spoolMaxBytes, snapshot }: InboxOptions) => {
  let worker: EventWorker | undefined;
  const spool = createSpool({
    folder: spoolFolder,
    maxBytes: spoolMaxBytes,
    store: async (events) => {
      await storeEvents(sql, await currentEvents(sql, events));
      worker?.wake();
    },
    log,
    snapshot,
  });

  const isCrowded = (): boolean =>
    commits.waiting() >= crowdedEvents || commits.waitingSize() >= crowdedBytes;

  const commit = async (batch: readonly EventToStore[]): Promise<StoreResult[]> => {
    const currentWorker = worker;
    const events = batch.map(({ event }) => event);
    const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
    const { claimer, isFull } = currentWorker?.hasRoom(events.length, bytes) ? currentWorker : noWorker;
    const results = await withTimeout(isCrowded, storeEvents(sql, events, claimer, isFull));
    if (currentWorker !== undefined)
      for (const [at, event] of batch.entries())
        if (results[at] === 'claimed') handOver(currentWorker, event);
    if (results.includes('stored')) worker?.wake();
    return results;
  };

  // One commit at a time: the more events share it, the less each of them costs. While PostgreSQL works on it, this
  // instance prepares the next one.
  const commits = createBatcher<EventToStore, StoreResult>({
    flush: async (batch) => {
      // Keeps the order: if earlier events went to the spool, the events behind them must follow.
      if (spool.active) throw databaseUnavailable();
      return commit(batch);
    },
    maxBatch,
    sizeOf: ({ event }) => event.body.length,
    maxBatchSize: maxBatchBytes,
    maxQueue,
    maxInFlight: 1,
  });

  return {
    spool,
    /** Tells the worker of this instance, if there is one, that there are new events in the queue. */
    wake: (): void => worker?.wake(),
    /** Offers events to this worker until the returned object is disposed. */
    attach: (attached: EventWorker): Disposable => {
      worker = attached;
      return {
        [Symbol.dispose]: () => {
          if (worker === attached) worker = undefined;
        },
      };
    },
    /**
     * Stores an event in the database or, if that is unavailable, in the spool; it is durable once this resolves. The worker of
     * this instance starts to process it at once if it has room.
     */
    storeEvent: async (eventToStore: EventToStore): Promise<StoreResult | 'spooled'> => {
      if (!spool.active) {
        try {
          return await commits.add(eventToStore);
        } catch (err) {
          // The event may have been committed nevertheless; storing it again from the spool detects the duplicate.
          if (toProblem(err).status !== 503) log.error({ err }, 'the inbox could not store an event');
        }
      }
      await waitUncounted(() => spool.add(eventToStore.event));
      return 'spooled';
    },
    [Symbol.asyncDispose]: () => spool[Symbol.asyncDispose](),
  };
};
