import { setTimeout as sleep } from 'node:timers/promises';
import { safeError } from '../tracker/failure.ts';
import { createBatcher } from '@platform/service-kit/batcher';
import type { Log } from '@platform/service-kit/log';
import { toProblem, Unavailable } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';
import type { Snapshot } from '../spool/saved-snapshot.ts';
import { createSpool, type Spool } from '../spool/spool.ts';
import type { Receipt, Stored } from './receipt.ts';
import { storeReceipts } from './store.ts';

export interface Inbox extends AsyncDisposable {
  /** Stores a receipt in the database or, if that is unavailable, in the spool. Durable once this resolves. */
  accept(receipt: Receipt): Promise<Stored | 'spooled'>;
  spool: Spool;
}

interface InboxOptions {
  sql: Sql;
  log: Log;
  spoolFolder: string;
  spoolMaxBytes: number;
  snapshot: Snapshot;
  /** Called when there are new events to process. */
  wake(): void;
}

/** Maximum number of receipts in one commit, and of their bytes. */
const [maxBatch, maxBatchBytes] = [200, 8 * 2 ** 20];
/** Maximum number of waiting receipts; further ones go directly to the spool. */
const maxQueue = 10_000;
/** A database that takes longer counts as unavailable, because senders wait only a few seconds. */
const patienceMs = 2000;

const away = (): Unavailable => new Unavailable('database_unavailable', 'The database is away.');

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  const done = new AbortController();
  const late = sleep(ms, undefined, { signal: done.signal }).then(() => Promise.reject(away()));
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
};

export const createInbox = (options: InboxOptions): Inbox => {
  const { sql, log, spoolFolder, spoolMaxBytes, snapshot, wake } = options;
  const store = async (receipts: readonly Receipt[]): Promise<Stored[]> => {
    const results = await storeReceipts(sql, receipts);
    wake();
    return results;
  };
  const spool = createSpool({ folder: spoolFolder, maxBytes: spoolMaxBytes, store, log, snapshot });
  // One commit at a time: the more receipts share a commit, the less each of them costs.
  const commits = createBatcher<Receipt, Stored>({
    flush: async (receipts) => {
      // Keeps the order: if earlier receipts went to the spool, those that waited behind them follow.
      if (spool.active) throw away();
      return within(patienceMs, store(receipts));
    },
    maxBatch,
    sizeOf: ({ body }) => body.length,
    maxBatchSize: maxBatchBytes,
    maxQueue,
    maxInFlight: 1,
  });

  return {
    spool,
    accept: async (receipt) => {
      if (!spool.active) {
        try {
          return await commits.add(receipt);
        } catch (err) {
          // It may have been committed nevertheless; the replay of the spool detects that.
          if (toProblem(err).status !== 503)
            log.error({ err: safeError(err) }, 'the inbox could not store an event');
        }
      }
      await spool.add(receipt);
      return 'spooled';
    },
    [Symbol.asyncDispose]: () => spool[Symbol.asyncDispose](),
  };
};
