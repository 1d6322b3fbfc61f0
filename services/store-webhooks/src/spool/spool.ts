import { mkdir, statfs } from 'node:fs/promises';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from '@platform/service-kit/background';
import { createBatcher } from '@platform/service-kit/batcher';
import type { Log } from '@platform/service-kit/log';
import { Unavailable } from '@platform/service-kit/problem';
import { detached } from '@platform/service-kit/request-scope';
import type { Receipt } from '../inbox/receipt.ts';
import { safeError } from '../tracker/failure.ts';
import { createFile, takeAbandoned, type SpoolFile } from './file.ts';
import type { Snapshot } from './snapshot.ts';

export interface SpoolOptions {
  folder: string;
  /** If the spool would become larger, events are rejected with 503. */
  maxBytes: number;
  /** Commits receipts to the inbox; rejects while the database is unavailable. */
  store(receipts: Receipt[]): Promise<unknown>;
  log: Log;
  /** Pause before each attempt to replay the spool, in milliseconds. */
  pauseMs?: number;
  snapshot?: Snapshot;
}

export interface Spool extends AsyncDisposable {
  /**
   * Whether receipts must go to the spool, because the database is unavailable or because older
   * receipts are still being replayed and later ones must not overtake them.
   */
  readonly active: boolean;
  readonly bytes: number;
  /** How much larger the spool can become: limited by `maxBytes` and by the disk. */
  free(): Promise<number>;
  /** The receipt is durable once this resolves. Throws Unavailable when it cannot be written. */
  add(receipt: Receipt): Promise<void>;
  /**
   * Restores the snapshots and takes over the events of processes that have ended; from then on checks for
   * such processes once a second. Call this before the first `add`.
   */
  recover(): Promise<void>;
}

const maintainMs = 1000;

/** Keeps events in a file while the database is unavailable, and replays them in order afterwards. */
export const createSpool = (options: SpoolOptions): Spool => {
  const { folder, maxBytes, store, log, pauseMs = 250, snapshot } = options;
  let own: SpoolFile | undefined;
  /** Files of processes that have ended, oldest first. */
  const abandoned: SpoolFile[] = [];
  let writing = 0;
  let active = false;
  let isFailing = false;
  let isRecovered = false;
  let draining: Promise<void> | undefined;
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();

  const files = (): SpoolFile[] => (own === undefined ? abandoned : [...abandoned, own]);
  const bytes = () => files().reduce((sum, file) => sum + file.bytes, 0);

  const writes = createBatcher<Receipt, void>({
    flush: async (receipts) => {
      own ??= await createFile(folder);
      own.append(receipts);
      return receipts.map(() => undefined);
    },
    maxBatch: 500,
    sizeOf: ({ body }) => body.length,
    maxBatchSize: 8 * 2 ** 20,
    maxQueue: 10_000,
    maxInFlight: 1,
  });

  const reportDamage = (path: string): void =>
    log.error({ path }, 'a spool file is damaged and was put aside');

  /** Replays a file to its end; false if it is damaged. */
  const replay = async (file: SpoolFile): Promise<boolean> => {
    while (file.hasMore()) {
      const { receipts, isDamaged, markReplayed } = file.next();
      if (receipts.length > 0) await store(receipts);
      markReplayed();
      if (isDamaged) return false;
    }
    return true;
  };
  const putAside = async (file: SpoolFile): Promise<void> => {
    await file.putAside();
    reportDamage(file.path);
  };

  const drain = async (): Promise<void> => {
    for (let caughtUp = false; !caughtUp;) {
      for (let file = abandoned[0]; file !== undefined; file = abandoned[0]) {
        const isWhole = await replay(file);
        abandoned.shift();
        await (isWhole ? file.remove() : putAside(file));
      }
      const file = own;
      if (file !== undefined && !(await replay(file))) {
        own = undefined;
        await putAside(file);
      }
      caughtUp = writing === 0 && abandoned.length === 0 && own?.hasMore() !== true;
      if (!caughtUp) await immediate();
    }
    // No write to the file is in progress in this turn of the event loop, so later receipts may go to the inbox.
    const done = own;
    own = undefined;
    active = false;
    await done?.remove();
  };

  const run = async (): Promise<void> => {
    log.warn('events go to the spool');
    while (active && !stopping.signal.aborted) {
      try {
        await sleep(pauseMs, undefined, { signal: stopping.signal });
        await drain();
        log.info('the spool was replayed');
      } catch (err) {
        if (!stopping.signal.aborted) log.warn({ err: safeError(err) }, 'the spool waits for the database');
      }
    }
    draining = undefined;
    begin();
  };
  const begin = (): void => {
    // Detached, because the request that begins it ends before the spool is replayed.
    if (active && draining === undefined && !stopping.signal.aborted) draining = detached(run);
  };

  const maintain = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { taken, damaged, failed } = await takeAbandoned(folder, new Set(files().map(({ path }) => path)));
    for (const path of damaged) reportDamage(path);
    if (taken.length > 0 || !isRecovered) await snapshot?.restore();
    isRecovered = true;
    abandoned.push(...taken);
    active ||= abandoned.length > 0;
    begin();
    // Last, because a full disk must not keep events from being replayed.
    await snapshot?.save();
    if (failed !== undefined) throw failed;
  };

  return {
    get active() {
      return active;
    },
    get bytes() {
      return bytes();
    },
    free: async () => {
      const { bavail, bsize } = await statfs(folder);
      return Math.max(0, Math.min(maxBytes - bytes(), bavail * bsize));
    },
    add: async (receipt) => {
      if (bytes() + receipt.body.length > maxBytes) throw full();
      writing++;
      active = true;
      try {
        await writes.add(receipt);
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.error({ err: safeError(err) }, 'the spool can not be written');
        isFailing = true;
        throw full();
      } finally {
        writing--;
        begin();
      }
    },
    recover: async () => {
      const attempt = () => maintain().catch((err: unknown) => Promise.reject(safeError(err)));
      // A spool that cannot be used does not keep the service from storing events in the database.
      await attempt().catch((err: unknown) => log.error({ err }, 'the spool can not be used'));
      stack.use(startBackground({ name: 'spool', everyMs: maintainMs, log, run: attempt }));
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await stack.disposeAsync();
      await draining;
      if (isRecovered) await snapshot?.save().catch(() => undefined);
      for (const file of files()) file.close();
    },
  };
};

const full = (): Unavailable =>
  new Unavailable('spool_full', 'Nothing can be taken at the moment; send it again later.');
