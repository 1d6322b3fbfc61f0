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
  damagedExtension,
  openFiles,
  quarantine,
  removeFile,
  storeSpooledEvents,
  type SpoolFile,
} from './file.ts';
import { createFolder, lockAbandoned, type OwnFolder } from './folder.ts';
import type { OutageSnapshot } from './outage-snapshot.ts';

export interface SpoolOptions {
  folder: string;
  /** Maximum size; further events are rejected with 503. A store is rejected when it uses twice as much as is left. */
  maxBytes: number;
  /** Commits events to the inbox; rejects while the database is unavailable. */
  store(events: ReceivedEvent[]): Promise<unknown>;
  log: Log;
  /** Pause before each attempt to replay the spool, in milliseconds. */
  pauseMs?: number;
  snapshot?: OutageSnapshot;
}

const maintainMs = 1000;
/** Approximate size of a record without its body, in bytes. */
const metadataBytes = 500;

/** A folder of an instance that has ended, and its files that are not replayed yet. */
interface Abandoned {
  folder: OwnFolder;
  files: SpoolFile[];
}

/** Keeps events in a file while the database is unavailable, and replays them in order afterwards. */
export const createSpool = (options: SpoolOptions) => {
  const { folder, maxBytes, store, log, pauseMs = 250, snapshot } = options;
  let ownFolder: Promise<OwnFolder> | undefined;
  let currentFile: SpoolFile | undefined;
  /** Bytes of each store in the current file. */
  let bytesByStore = createTally();
  let abandoned: Abandoned[] = [];
  let writing = 0;
  let active = false;
  let isFailing = false;
  let isRecovered = false;
  let replaying: Promise<void> | undefined;
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();
  const outsideRequests = AsyncLocalStorage.snapshot();

  const bytes = () =>
    abandoned.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, currentFile?.size ?? 0);

  const hasRoom = ({ storeId, body }: ReceivedEvent): boolean => {
    const left = maxBytes - bytes() - body.length;
    return left >= 0 && bytesByStore.get(storeId) + body.length <= 2 * left;
  };

  /** The folder of this instance. It is created before the first outage, when the disk may be full. */
  const openOwnFolder = (): Promise<OwnFolder> =>
    (ownFolder ??= createFolder(folder).catch((error: unknown) => {
      ownFolder = undefined;
      throw error;
    }));

  const writes = createBatcher<ReceivedEvent, void>({
    flush: async (events) => {
      let file: SpoolFile;
      // Repeated if the file was found to be damaged in between: nothing after the damage can be replayed.
      do {
        file = currentFile ??= await createFile((await openOwnFolder()).path);
        await append(file, events);
      } while (currentFile !== file);
      return events.map(() => undefined);
    },
    maxBatch: 500,
    sizeOf: ({ body }) => body.length,
    maxBatchSize: 8 * 2 ** 20,
    maxQueue: 10_000,
    maxInFlight: 1,
  });

  const quarantineDamaged = async (file: SpoolFile): Promise<void> => {
    log.error(
      { path: file.path, lostBytes: file.size - file.replayed },
      'a spool file is damaged and was quarantined',
    );
    await quarantine(file);
  };

  const replayAbandoned = async (): Promise<void> => {
    for (let nextFolder = abandoned[0]; nextFolder !== undefined; nextFolder = abandoned[0]) {
      for (let file = nextFolder.files[0]; file !== undefined; file = nextFolder.files[0]) {
        // A record that a crash cut off was never acknowledged.
        const isDamaged = (await storeSpooledEvents(file, store)) === 'damaged';
        await (isDamaged ? quarantineDamaged : removeFile)(file);
        nextFolder.files.shift();
      }
      // Forgotten before it is removed, because a partly removed folder cannot be removed again.
      abandoned = abandoned.slice(1);
      await nextFolder.folder.remove();
    }
  };

  const replay = async (): Promise<void> => {
    for (let caughtUp = false; !caughtUp;) {
      await replayAbandoned();
      const file = currentFile;
      // This instance wrote every record of its file completely, so a cut record is damage.
      if (file !== undefined && (await storeSpooledEvents(file, store)) !== 'whole') {
        currentFile = undefined;
        bytesByStore = createTally();
        await quarantineDamaged(file);
      }
      caughtUp =
        writing === 0 &&
        abandoned.length === 0 &&
        (currentFile === undefined || currentFile.replayed === currentFile.size);
      if (!caughtUp) await immediate();
    }
    // No write to the file is in progress in this turn of the event loop, so later events may go to the inbox.
    const replayedFile = currentFile;
    currentFile = undefined;
    bytesByStore = createTally();
    active = false;
    if (replayedFile !== undefined) await removeFile(replayedFile);
  };

  const replayAll = async (): Promise<void> => {
    log.warn('events go to the spool');
    while (active && !stopping.signal.aborted) {
      // The abort ends the pause: an instance that stops tries once more at once, because its disk may be deleted with it.
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      try {
        await replay();
        log.info('the spool was replayed');
      } catch (err) {
        log.warn({ err }, 'the spool waits for the database');
      }
    }
    replaying = undefined;
    startReplay();
  };
  const startReplay = (): void => {
    // Runs outside the request that starts it: the request ends earlier, and its client must not be charged for other events.
    if (active && replaying === undefined && !stopping.signal.aborted) replaying = outsideRequests(replayAll);
  };

  const takeOver = async (lockedFolder: OwnFolder): Promise<void> => {
    try {
      const files = await openFiles(lockedFolder.path);
      if (files.length === 0) await lockedFolder.remove();
      else abandoned.push({ folder: lockedFolder, files });
    } catch (error) {
      lockedFolder.unlock();
      throw error;
    }
  };

  const maintain = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { folders, error: lockError } = await lockAbandoned(folder);
    if (folders.length > 0 || !isRecovered) await snapshot?.restore(folder);
    isRecovered = true;
    // Saved before the abandoned folders are removed with the snapshots in them. A full disk must not prevent the replay of
    // their events.
    const saveError = await openOwnFolder()
      .then((at) => snapshot?.save(at))
      .catch((error: unknown) => error);
    for (const abandonedFolder of folders) await takeOver(abandonedFolder);
    active ||= abandoned.length > 0;
    startReplay();
    const problem = saveError ?? lockError;
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
    /** How many bytes the spool can still take, limited by `maxBytes` and by the disk. */
    free: async (): Promise<number> => {
      const { bavail, bsize } = await statfs((await openOwnFolder()).path);
      return Math.max(0, Math.min(maxBytes - bytes(), bavail * bsize));
    },
    /** How many quarantined files exist. Rejects while the folder does not exist. */
    damagedFiles: async (): Promise<number> =>
      (await readdir(folder)).filter((name) => name.endsWith(damagedExtension)).length,
    /** Adds an event, which is durable once this resolves. Throws Unavailable if it cannot be written. */
    add: async (event: ReceivedEvent): Promise<void> => {
      if (!hasRoom(event)) throw full();
      bytesByStore.add(event.storeId, event.body.length + metadataBytes);
      writing++;
      active = true;
      try {
        await writes.add(event);
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.error({ err }, 'the spool cannot be written');
        isFailing = true;
        throw full();
      } finally {
        writing--;
        startReplay();
      }
    },
    /**
     * Restores the snapshots and takes over the events of instances that have ended. Then checks for
     * such instances every second. Call this before the first `add`.
     */
    recover: async (): Promise<void> => {
      // If the spool cannot be used, the service still stores events in the database.
      await maintain().catch((err: unknown) => log.error({ err }, 'the spool cannot be used'));
      stack.use(startBackground({ name: 'spool', everyMs: maintainMs, log, run: maintain }));
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stopping.abort();
      await stack.disposeAsync();
      await replaying;
      // The files must be closed even if there is no folder, or no space for a newer snapshot.
      const at = await ownFolder?.catch(() => undefined);
      if (at !== undefined) await snapshot?.save(at).catch(() => undefined);
      for (const file of [currentFile, ...abandoned.flatMap(({ files }) => files)])
        await file?.handle.close();
      for (const locked of [at, ...abandoned.map((ended) => ended.folder)]) locked?.unlock();
    },
  };
};

const full = (): Unavailable =>
  new Unavailable('spool_full', 'No webhook can be stored at the moment; send it again later.');
