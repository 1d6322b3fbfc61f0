import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdir, readdir, statfs } from 'node:fs/promises';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from '@platform/service-kit/background';
import { createBatcher } from '@platform/group-commit';
import type { Log } from '@platform/service-kit/log';
import { Unavailable } from '@platform/service-kit/problem';
import { createTally } from '@platform/service-kit/tally';
import type { ReceivedEvent } from '../event.ts';
import {
  append,
  createFile,
  damagedEnding,
  openFiles,
  putAside,
  removeFile,
  storeSpooledEvents,
  type SpoolFile,
} from './file.ts';
import { createFolder, takeAbandoned, type OwnFolder } from './folder.ts';
import type { OutageSnapshot } from './outage-snapshot.ts';

export interface SpoolOptions {
  folder: string;
  /**
   * If the spool would become larger, events are rejected with 503; those of a store already when it has twice as much in it
   * as is left for others.
   */
  maxBytes: number;
  /** Commits events to the inbox; rejects while the database is unavailable. */
  store(events: ReceivedEvent[]): Promise<unknown>;
  log: Log;
  /** Pause before each attempt to replay the spool, in milliseconds. */
  pauseMs?: number;
  snapshot?: OutageSnapshot;
}

const maintainMs = 1000;
/** What a record takes besides the body, about, in bytes. */
const aboutBytes = 500;

/** A folder of an instance that has ended, and its files that are not replayed yet. */
interface Abandoned {
  folder: OwnFolder;
  files: SpoolFile[];
}

/** Keeps events in a file while the database is unavailable, and replays them in order afterwards. */
export const createSpool = (options: SpoolOptions) => {
  const { folder, maxBytes, store, log, pauseMs = 250, snapshot } = options;
  let home: Promise<OwnFolder> | undefined;
  let own: SpoolFile | undefined;
  /** Bytes of each store in this file. */
  let ofStores = createTally();
  let abandoned: Abandoned[] = [];
  let writing = 0;
  let active = false;
  let isFailing = false;
  let isRecovered = false;
  let draining: Promise<void> | undefined;
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();
  const outsideRequests = AsyncLocalStorage.snapshot();

  const bytes = () =>
    abandoned.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, own?.size ?? 0);

  const hasRoom = ({ storeId, body }: ReceivedEvent): boolean => {
    const left = maxBytes - bytes() - body.length;
    return left >= 0 && ofStores.get(storeId) + body.length <= 2 * left;
  };

  /** The folder of this instance. It is created before the first outage, when the disk may be full. */
  const openHome = (): Promise<OwnFolder> =>
    (home ??= createFolder(folder).catch((error: unknown) => {
      home = undefined;
      throw error;
    }));

  const writes = createBatcher<ReceivedEvent, void>({
    flush: async (events) => {
      let file: SpoolFile;
      // Again if the file was found to be damaged meanwhile: nothing behind the damage can be replayed.
      do {
        file = own ??= await createFile((await openHome()).path);
        await append(file, events);
      } while (own !== file);
      return events.map(() => undefined);
    },
    maxBatch: 500,
    sizeOf: ({ body }) => body.length,
    maxBatchSize: 8 * 2 ** 20,
    maxQueue: 10_000,
    maxInFlight: 1,
  });

  const putDamagedAside = async (file: SpoolFile): Promise<void> => {
    log.error(
      { path: file.path, lostBytes: file.size - file.replayed },
      'a spool file is damaged and was put aside',
    );
    await putAside(file);
  };

  const drainAbandoned = async (): Promise<void> => {
    for (let next = abandoned[0]; next !== undefined; next = abandoned[0]) {
      for (let file = next.files[0]; file !== undefined; file = next.files[0]) {
        // A record that a crash cut off was never acknowledged.
        const isDamaged = (await storeSpooledEvents(file, store)) === 'damaged';
        await (isDamaged ? putDamagedAside : removeFile)(file);
        next.files.shift();
      }
      // First, because a folder that was removed in part cannot be removed again.
      abandoned = abandoned.slice(1);
      await next.folder.remove();
    }
  };

  const drain = async (): Promise<void> => {
    for (let caughtUp = false; !caughtUp;) {
      await drainAbandoned();
      const file = own;
      // Every record of its own file was written completely.
      if (file !== undefined && (await storeSpooledEvents(file, store)) !== 'whole') {
        own = undefined;
        ofStores = createTally();
        await putDamagedAside(file);
      }
      caughtUp = writing === 0 && abandoned.length === 0 && (own === undefined || own.replayed === own.size);
      if (!caughtUp) await immediate();
    }
    // No write to the file is in progress in this turn of the event loop, so later events may go to the inbox.
    const done = own;
    own = undefined;
    ofStores = createTally();
    active = false;
    if (done !== undefined) await removeFile(done);
  };

  const run = async (): Promise<void> => {
    log.warn('events go to the spool');
    while (active && !stopping.signal.aborted) {
      // The abort ends the pause: an instance that stops tries once more at once, because its disk may be removed with it.
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      try {
        await drain();
        log.info('the spool was replayed');
      } catch (err) {
        log.warn({ err }, 'the spool waits for the database');
      }
    }
    draining = undefined;
    begin();
  };
  const begin = (): void => {
    // Not as the request that begins it: that one ends before, and its client must not pay for the events of others.
    if (active && draining === undefined && !stopping.signal.aborted) draining = outsideRequests(run);
  };

  const takeOver = async (taken: OwnFolder): Promise<void> => {
    try {
      const files = await openFiles(taken.path);
      if (files.length === 0) await taken.remove();
      else abandoned.push({ folder: taken, files });
    } catch (error) {
      taken.unlock();
      throw error;
    }
  };

  const maintain = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { taken, failed } = await takeAbandoned(folder);
    if (taken.length > 0 || !isRecovered) await snapshot?.restore(folder);
    isRecovered = true;
    // Before the abandoned folders are removed, with the snapshots in them. A full disk must not keep their
    // events from being replayed.
    const unsaved = await openHome()
      .then((at) => snapshot?.save(at))
      .catch((error: unknown) => error);
    for (const abandonedFolder of taken) await takeOver(abandonedFolder);
    active ||= abandoned.length > 0;
    begin();
    const problem = unsaved ?? failed;
    if (problem !== undefined) throw problem;
  };

  return {
    /**
     * Whether events must go to the spool, because the database is unavailable or because older
     * events are still being replayed and later ones must not overtake them.
     */
    get active(): boolean {
      return active;
    },
    get bytes(): number {
      return bytes();
    },
    /** How much larger the spool can become: limited by `maxBytes` and by the disk. */
    free: async (): Promise<number> => {
      const { bavail, bsize } = await statfs((await openHome()).path);
      return Math.max(0, Math.min(maxBytes - bytes(), bavail * bsize));
    },
    /** How many damaged files were put aside and still exist. Rejects while the folder does not exist. */
    damagedFiles: async (): Promise<number> =>
      (await readdir(folder)).filter((name) => name.endsWith(damagedEnding)).length,
    /** The event is durable once this resolves. Throws Unavailable when it cannot be written. */
    add: async (event: ReceivedEvent): Promise<void> => {
      if (!hasRoom(event)) throw full();
      ofStores.add(event.storeId, event.body.length + aboutBytes);
      writing++;
      active = true;
      try {
        await writes.add(event);
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.error({ err }, 'the spool can not be written');
        isFailing = true;
        throw full();
      } finally {
        writing--;
        begin();
      }
    },
    /**
     * Restores the snapshots and takes over the events of instances that have ended; from then on checks for
     * such instances once a second. Call this before the first `add`.
     */
    recover: async (): Promise<void> => {
      // A spool that cannot be used does not keep the service from storing events in the database.
      await maintain().catch((err: unknown) => log.error({ err }, 'the spool can not be used'));
      stack.use(startBackground({ name: 'spool', everyMs: maintainMs, log, run: maintain }));
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stopping.abort();
      await stack.disposeAsync();
      await draining;
      // Without a folder or space for a newer snapshot the files must be closed all the same.
      const at = await home?.catch(() => undefined);
      if (at !== undefined) await snapshot?.save(at).catch(() => undefined);
      for (const file of [own, ...abandoned.flatMap(({ files }) => files)]) await file?.handle.close();
      for (const locked of [at, ...abandoned.map((ended) => ended.folder)]) locked?.unlock();
    },
  };
};

const full = (): Unavailable =>
  new Unavailable('spool_full', 'No webhook can be stored at the moment; send it again later.');
