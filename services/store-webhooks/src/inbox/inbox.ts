import { createBatcher } from '@platform/group-commit';
import type { Log } from '@platform/service-kit/log';
import { toProblem, Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import { isPaused, storePaused, type KnownStore } from '../stores/known-store.ts';
import type { Claimer } from './claim-events.ts';
import type { ClaimedEvent, ReceivedEvent, Stored } from './event.ts';
import { storeEvents } from './insert-events.ts';
import type { OutageSnapshot } from './spool/outage-snapshot.ts';
import { createSpool } from './spool/spool.ts';

/** A database that takes longer counts as unavailable, because senders wait only a few seconds. */
const patienceMs = 2000;
/** The same while many wait: those behind them would be refused. */
const crowdedPatienceMs = 250;
const checkMs = 50;

const databaseAway = (): Unavailable =>
  new Unavailable('database_unavailable', 'The database is unavailable.');

/**
 * Rejects with `databaseAway` when the database takes too long for `work`, which goes on. While this process is busy, checks
 * come late and the answer may already be there, so the short time is counted in checks.
 */
const withPatience = async <T>(isCrowded: () => boolean, work: Promise<T>): Promise<T> => {
  const begun = performance.now();
  let checks = 0;
  let timer: NodeJS.Timeout | undefined;
  const away = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      checks += 1;
      const isOver = performance.now() - begun >= patienceMs;
      if (isOver || (checks * checkMs >= crowdedPatienceMs && isCrowded())) reject(databaseAway());
    }, checkMs);
  });
  try {
    return await Promise.race([work, away]);
  } finally {
    clearInterval(timer);
  }
};

/** A received event, and what processing needs in addition. */
export interface EventToStore {
  event: ReceivedEvent;
  store: KnownStore;
}

/** The worker of this instance. It takes events that were just stored, so that they are neither claimed nor read again. */
export interface EventWorker {
  claimer: Claimer;
  /** Whether the worker has room for this number of events, and of bytes of their bodies. */
  hasRoom(events: number, bytes: number): boolean;
  /** Processes an event that was claimed for it when it was stored. */
  begin(event: ClaimedEvent): void;
  /** There are new events in the queue. */
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
 * Maximum number of events in one commit, and of their bytes. In larger batches an event costs PostgreSQL more (57 µs
 * at 256, 50 µs at 64), and the others wait longer for the statement.
 */
const [maxBatch, maxBatchBytes] = [64, 8 * 2 ** 20];
/** Maximum number of waiting events; further ones go directly to the spool. */
const maxQueue = 10_000;
/**
 * Events that wait for the next commit, and their bytes: with more, MAX_IN_PROGRESS is soon reached or the memory for bodies
 * used up, and further ones are refused.
 */
const [crowdedEvents, crowdedBytes] = [16, 4 * 2 ** 20];

const handOver = (worker: EventWorker, { event, store }: EventToStore): void => {
  const at = event.receivedAt.toISOString();
  worker.begin({
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

/** Spooled events as they are stored: meanwhile their store may have been erased, or paused unknown to this instance. */
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

  const commit = async (batch: readonly EventToStore[]): Promise<Stored[]> => {
    const claiming = worker;
    const events = batch.map(({ event }) => event);
    const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
    const claimer = claiming?.hasRoom(events.length, bytes) ? claiming.claimer : undefined;
    const results = await withPatience(isCrowded, storeEvents(sql, events, claimer));
    if (claiming !== undefined)
      for (const [at, event] of batch.entries()) if (results[at] === 'claimed') handOver(claiming, event);
    if (results.includes('stored')) worker?.wake();
    return results;
  };

  // One commit at a time: the more events share it, the less each of them costs. While PostgreSQL works on it, this
  // instance prepares the next one.
  const commits = createBatcher<EventToStore, Stored>({
    flush: async (batch) => {
      // Keeps the order: if earlier events went to the spool, those that waited behind them follow.
      if (spool.active) throw databaseAway();
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
    /** From now on events are offered to this worker, until the result is disposed of. */
    attach: (attached: EventWorker): Disposable => {
      worker = attached;
      return {
        [Symbol.dispose]: () => {
          if (worker === attached) worker = undefined;
        },
      };
    },
    /**
     * Stores an event in the database or, if that is unavailable, in the spool. Durable once this resolves. The worker of
     * this instance begins with it at once if it has room.
     */
    storeEvent: async (eventToStore: EventToStore): Promise<Stored | 'spooled'> => {
      if (!spool.active) {
        try {
          return await commits.add(eventToStore);
        } catch (err) {
          // It may have been committed nevertheless; storing it again from the spool detects that.
          if (toProblem(err).status !== 503) log.error({ err }, 'the inbox could not store an event');
        }
      }
      await waitUncounted(() => spool.add(eventToStore.event));
      return 'spooled';
    },
    [Symbol.asyncDispose]: () => spool[Symbol.asyncDispose](),
  };
};
