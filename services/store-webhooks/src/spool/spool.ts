import { tellableError } from '../tracker/failure.ts';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '@platform/service-kit/batcher';
import type { Log } from '@platform/service-kit/log';
import { Unavailable } from '@platform/service-kit/problem';
import type { Receipt } from '../inbox/receipt.ts';
import {
  append,
  createFile,
  leftFiles,
  openLeft,
  putAside,
  readNext,
  removeFile,
  type SpoolFile,
} from './file.ts';

export interface SpoolOptions {
  folder: string;
  /** If the spool would become larger, events are rejected with 503. */
  maxBytes: number;
  /** Commits receipts to the inbox; rejects while the database is unavailable. */
  store(receipts: Receipt[]): Promise<unknown>;
  log: Log;
  /** Pause before each attempt to replay the spool, in milliseconds. */
  pauseMs?: number;
}

export interface Spool extends AsyncDisposable {
  /**
   * Whether receipts must go to the spool, because the database is unavailable or because older
   * receipts are still being replayed and later ones must not overtake them.
   */
  readonly active: boolean;
  readonly bytes: number;
  /** The receipt is durable once this resolves. Throws Unavailable when the spool is full. */
  add(receipt: Receipt): Promise<void>;
  /** Takes over the files of earlier processes. Call this before the first `add`. */
  recover(): Promise<void>;
}

/** Keeps events in a file while the database is unavailable, and replays them in order afterwards. */
export const createSpool = ({ folder, maxBytes, store, log, pauseMs = 250 }: SpoolOptions): Spool => {
  let own: SpoolFile | undefined;
  let left: SpoolFile[] = [];
  let writing = 0;
  let active = false;
  let draining: Promise<void> | undefined;
  const stopping = new AbortController();

  const bytes = () => left.reduce((sum, { size }) => sum + size, own?.size ?? 0);

  const writes = createBatcher<Receipt, void>({
    flush: async (receipts) => {
      own ??= await createFile(folder);
      await append(own, receipts);
      return receipts.map(() => undefined);
    },
    maxBatch: 500,
    maxQueue: 10_000,
    maxInFlight: 1,
  });

  /** Replays a file; returns false if it is damaged. */
  const replay = async (file: SpoolFile): Promise<boolean> => {
    while (file.replayed < file.size) {
      const { receipts, bytes: read, damaged } = await readNext(file);
      if (receipts.length > 0) await store(receipts);
      file.replayed += read;
      if (damaged) return false;
      // A record that a crash cut off was never acknowledged.
      if (read === 0) break;
    }
    return true;
  };

  const drainLeft = async (): Promise<void> => {
    for (let file = left[0]; file !== undefined; file = left[0]) {
      const whole = await replay(file);
      if (!whole) log.error({ path: file.path }, 'a spool file is damaged and was put aside');
      await (whole ? removeFile : putAside)(file);
      left = left.slice(1);
    }
  };

  const drain = async (): Promise<void> => {
    await drainLeft();
    for (let caughtUp = false; !caughtUp;) {
      if (own !== undefined) await replay(own);
      caughtUp = writing === 0 && (own === undefined || own.replayed === own.size);
      if (!caughtUp) await immediate();
    }
    // No write to the file is in progress in this turn of the event loop, so later receipts may go to the inbox.
    const done = own;
    own = undefined;
    active = false;
    if (done !== undefined) await removeFile(done);
  };

  const run = async (): Promise<void> => {
    log.warn('events go to the spool');
    while (active && !stopping.signal.aborted) {
      try {
        await sleep(pauseMs, undefined, { signal: stopping.signal });
        await drain();
        log.info('the spool was replayed');
      } catch (err) {
        if (!stopping.signal.aborted)
          log.warn({ err: tellableError(err) }, 'the spool waits for the database');
      }
    }
    draining = undefined;
    begin();
  };
  const begin = (): void => {
    if (active && draining === undefined && !stopping.signal.aborted) draining = run();
  };

  return {
    get active() {
      return active;
    },
    get bytes() {
      return bytes();
    },
    add: async (receipt) => {
      if (bytes() + receipt.body.length > maxBytes)
        throw new Unavailable('spool_full', 'Nothing can be taken at the moment; send it again later.');
      writing++;
      active = true;
      try {
        await writes.add(receipt);
      } finally {
        writing--;
        begin();
      }
    },
    recover: async () => {
      left = await Promise.all((await leftFiles(folder)).map(openLeft));
      active = left.length > 0;
      begin();
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await draining;
      for (const file of [own, ...left]) await file?.handle.close();
    },
  };
};
