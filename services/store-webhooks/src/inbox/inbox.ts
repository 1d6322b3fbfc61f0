import { safeError } from '@platform/service-kit/safe-error';
import { createBatcher } from '@platform/group-commit';
import type { Log } from '@platform/service-kit/log';
import { toProblem, Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import { withTimeout } from '@platform/service-kit/timeout';
import type { Sql } from 'postgres';
import type { Snapshot } from '../spool/saved-snapshot.ts';
import { createSpool, type Spool } from '../spool/spool.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { EventWorker, OnWork } from './handover.ts';
import type { Receipt, Stored } from './receipt.ts';
import { storeReceipts } from './queries.ts';

/** A receipt, and what processing needs in addition. */
export interface Arrival {
  receipt: Receipt;
  store: KnownStore;
  /** The parsed body; undefined if it is too large to be kept. */
  content: unknown;
}

export interface Inbox extends AsyncDisposable {
  /**
   * Stores a receipt in the database or, if that is unavailable, in the spool. Durable once this resolves. The worker of
   * this process begins with it at once if it has room.
   */
  accept(arrival: Arrival): Promise<Stored | 'spooled'>;
  spool: Spool;
}

interface InboxOptions {
  sql: Sql;
  log: Log;
  spoolFolder: string;
  spoolMaxBytes: number;
  snapshot: Snapshot;
  onWork: OnWork;
}

/**
 * Maximum number of receipts in one commit, and of their bytes. In larger batches a receipt costs PostgreSQL more (57 µs
 * at 256, 50 µs at 64), and the others wait longer for the statement.
 */
const [maxBatch, maxBatchBytes] = [64, 8 * 2 ** 20];
/** Maximum number of waiting receipts; further ones go directly to the spool. */
const maxQueue = 10_000;
/** A database that takes longer counts as unavailable, because senders wait only a few seconds. */
const patienceMs = 2000;

const away = (): Unavailable => new Unavailable('database_unavailable', 'The database is away.');

export const createInbox = (options: InboxOptions): Inbox => {
  const { sql, log, spoolFolder, spoolMaxBytes, snapshot, onWork } = options;
  const replay = async (receipts: readonly Receipt[]): Promise<Stored[]> => {
    const results = await storeReceipts(sql, receipts);
    onWork.wake();
    return results;
  };
  const spool = createSpool({ folder: spoolFolder, maxBytes: spoolMaxBytes, store: replay, log, snapshot });

  const handOver = (worker: EventWorker, { receipt, store, content }: Arrival): void => {
    const at = receipt.receivedAt.toISOString();
    worker.begin({
      ...receipt,
      entity: receipt.entity ?? receipt.id,
      receivedAt: at,
      queuedAt: at,
      attempts: 1,
      worker: worker.claimer.worker,
      crashes: 0,
      store,
      content,
    });
  };

  const commit = async (arrivals: readonly Arrival[]): Promise<Stored[]> => {
    const { worker } = onWork;
    const bytes = arrivals.reduce((sum, { receipt }) => sum + receipt.body.length, 0);
    const claimer = worker?.hasRoom(arrivals.length, bytes) ? worker.claimer : undefined;
    const results = await withTimeout(
      patienceMs,
      away,
      storeReceipts(
        sql,
        arrivals.map(({ receipt }) => receipt),
        claimer,
      ),
    );
    if (worker !== undefined)
      for (const [at, arrival] of arrivals.entries())
        if (results[at] === 'claimed') handOver(worker, arrival);
    if (results.includes('stored')) onWork.wake();
    return results;
  };

  // One commit at a time: the more receipts share it, the less each of them costs. While PostgreSQL works on it, this
  // process prepares the next one.
  const commits = createBatcher<Arrival, Stored>({
    flush: async (arrivals) => {
      // Keeps the order: if earlier receipts went to the spool, those that waited behind them follow.
      if (spool.active) throw away();
      return commit(arrivals);
    },
    maxBatch,
    sizeOf: ({ receipt }) => receipt.body.length,
    maxBatchSize: maxBatchBytes,
    maxQueue,
    maxInFlight: 1,
  });

  return {
    spool,
    accept: async (arrival) => {
      const { receipt } = arrival;
      if (!spool.active) {
        try {
          return await commits.add(arrival);
        } catch (err) {
          // It may have been committed nevertheless; the replay of the spool detects that.
          if (toProblem(err).status !== 503)
            log.error({ err: safeError(err) }, 'the inbox could not store an event');
        }
      }
      await waitUncounted(() => spool.add(receipt));
      return 'spooled';
    },
    [Symbol.asyncDispose]: () => spool[Symbol.asyncDispose](),
  };
};
