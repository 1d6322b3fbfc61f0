import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createLru } from '@platform/service-kit/lru';
import { Problem, toProblem, Unauthorized } from '@platform/service-kit/problem';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { noLookupLimit, type Guard } from '@platform/service-kit/route';
import PQueue from 'p-queue';
import { changeOf, moveChanges, readLog, type Cursor, type LoggedChange, type LogPage } from './log.ts';
import {
  callerKey,
  countWithin,
  maxBytes,
  ownersOf,
  sizesOf,
  type FeedOptions,
  type FollowedList,
} from './followed-list.ts';
import { createWatch, type Batch } from './watch.ts';

/** How long the result of a credential check is reused. With the 750 ms for which a guard may cache it, less than a second. */
const identityMs = 240;

/** A hash of the request's credential, so that the headers, which may be long, are not kept in memory. */
export const credentialHash = ({ headers }: IncomingMessage): string =>
  hash('sha256', JSON.stringify([headers.authorization, headers['x-api-key'], headers.cookie]));

/** Checks credentials again. All requests with the same credential share the result for a moment. */
export const createIdentities = <Caller>(auth: Pick<Guard<Caller>, 'identify'>) => {
  const identities = new Map<string, Promise<Caller>>();
  return {
    /** Rejects as the guard does. */
    identify: (req: IncomingMessage, credential: string): Promise<Caller> => {
      const cached = identities.get(credential);
      if (cached !== undefined) return cached;
      const caller = runOutsideRequest(async () => auth.identify(req, noLookupLimit));
      identities.set(credential, caller);
      setTimeout(() => identities.delete(credential), identityMs).unref();
      return caller;
    },
    /** Number of cached results. */
    get size(): number {
      return identities.size;
    },
  };
};

const maxCallers = 10_000;
/** Maximum characters of the pages of a batch that are kept for other readers. */
const maxSharedLength = 2 ** 20;
/** Pages of one caller that are read at the same time, so that a caller with many readers leaves connections to others. */
const concurrency = 2;

/** A change with the JSON text that its reader gets. */
export interface SeenChange {
  change: LoggedChange;
  json: string;
}

export interface SeenPage extends Omit<LogPage, 'changes'> {
  changes: readonly SeenChange[];
}

/** Reads the changes of a list for one request. */
export interface Reader {
  /** Returns the next page: from a shared batch, or else read for this request alone. */
  read(this: void): Promise<SeenPage>;
  /** Waits for up to `ms`. Returns true if there may be a page to read. Throws Unauthorized if the credential is no longer valid. */
  wait(ms: number): Promise<boolean>;
}

interface Request<Caller> {
  req: IncomingMessage;
  caller: Caller;
  query: object;
  /** Undefined starts at the end of the feed. */
  after: Cursor | undefined;
  /** Maximum number of changes of a page. */
  limit: number;
  /** Maximum number of changes of a page from a shared batch. Default: `limit`. */
  sharedLimit?: number;
}

const goneReasons = {
  unknown: 'This cursor is unknown, perhaps because the database was restored.',
  expired: 'The changes after this cursor are no longer kept.',
};

const cursorGone = (reason: 'unknown' | 'expired', text = goneReasons[reason]): Problem => {
  const detail = `${text} Export the list, and continue from the cursor of the export.`;
  return new Problem({ status: 410, code: `cursor_${reason}`, detail });
};

/** Throws if the changes include memberships, because the caller then sees the records of other owners. */
const requireSameOwners = (changes: readonly LoggedChange[], list: string): void => {
  if (changes.some((change) => change.list !== list))
    throw cursorGone('unknown', 'The set of records that you may see has changed since this cursor.');
};

/** Creates a function that creates the readers of a list. Readers at the end of the feed share the changes that were read. */
export const createReaders = (options: FeedOptions) => {
  const { database, days, byOwner } = options;
  const { sql } = database;
  const callerQueues = createLru<string, PQueue>(maxCallers, 0, () => new PQueue({ concurrency }));
  return <Caller>(followed: FollowedList<Caller>) => {
    const { list, auth, items, rights, memberships } = followed;
    const { identify } = createIdentities(auth);
    const watch = createWatch(options, { list, memberships: memberships?.list });
    /** Cuts a page before the change whose item would make it too large. */
    const withinBytes = async (page: LogPage, caller: Caller): Promise<LogPage> => {
      const count = countWithin(await sizesOf(sql, followed, page.changes, caller), maxBytes);
      const last = page.changes[count - 1];
      if (last === undefined || count === page.changes.length) return page;
      const { version, stamp } = last;
      const next = { ...page.next, position: BigInt(version), stamp: BigInt(stamp) };
      return { changes: page.changes.slice(0, count), next, hasMore: true };
    };
    const withItems = async (whole: LogPage, caller: Caller): Promise<SeenPage> => {
      const page = await withinBytes(whole, caller);
      const ids = new Set(page.changes.filter(({ action }) => action !== 'deleted').map(({ id }) => id));
      const itemTexts = ids.size > 0 ? await items(sql, [...ids], caller) : new Map<string, string>();
      const changes = page.changes.map((change) => {
        const item = change.action === 'deleted' ? undefined : itemTexts.get(change.id);
        const json = JSON.stringify(changeOf(change));
        return { change, json: item === undefined ? json : `${json.slice(0, -1)},"item":${item}}` };
      });
      return { ...page, changes };
    };

    return ({ req, query, limit, sharedLimit = limit, ...start }: Request<Caller>): Reader => {
      let credential: string | undefined;
      let { caller, after } = start;
      let batch: Batch | undefined;
      let memberOwners: readonly string[] | undefined;

      /**
       * The owners whose records the caller sees. Memberships are read once, after the start cursor is known: later changes of
       * them come after that cursor.
       */
      const visibleOwners = async (): Promise<readonly string[] | undefined> => {
        const owners = ownersOf(followed, query, caller);
        if (memberships === undefined || after === undefined) return owners;
        memberOwners ??= await memberships.owners(sql, caller);
        return [...(owners ?? []), ...memberOwners];
      };
      const readAlone = async (owners: readonly string[] | undefined): Promise<SeenPage> => {
        const isBehind = await moveChanges(sql);
        const request = { list, after, owners, memberships: memberships?.list, limit, days, byOwner };
        const page = await readLog(sql, request);
        if (typeof page === 'string') throw cursorGone(page);
        requireSameOwners(page.changes, list);
        return withItems({ ...page, hasMore: page.hasMore || isBehind }, caller);
      };
      /** Returns the caller's page of a shared batch; undefined if it has more changes than a page. */
      const sharedPage = (
        from: Batch,
        owners: readonly string[] | undefined,
      ): Promise<SeenPage> | undefined => {
        const position = after?.position ?? 0n;
        const key = JSON.stringify([rights(caller), owners, String(position), sharedLimit]);
        const cached = from.shared.get(key) as Promise<SeenPage> | undefined;
        if (cached !== undefined || from.shared.has(key)) return cached;
        const ownerSet = owners && new Set<string | null>(owners);
        const changes = from.changes.filter(
          ({ version, owner }) => version > position && (ownerSet?.has(owner) ?? true),
        );
        requireSameOwners(changes, list);
        const page =
          changes.length > sharedLimit
            ? undefined
            : runOutsideRequest(() => withItems({ ...from, changes }, caller));
        from.shared.set(key, page);
        const forget = () => from.shared.delete(key);
        // Bounded, because one caller can request many pages with different limits and owners.
        void page?.then(({ changes: seenChanges }) => {
          from.sharedLength += seenChanges.reduce((sum, { json }) => sum + json.length, 0);
          if (from.sharedLength > maxSharedLength) forget();
        }, forget);
        return page;
      };
      return {
        read: async () => {
          const readInQueue = () =>
            callerQueues.memo(callerKey(auth, caller)).add(async () => readAlone(await visibleOwners()));
          const page = await ((batch && sharedPage(batch, await visibleOwners())) ?? readInQueue());
          after = page.next;
          batch = undefined;
          return page;
        },
        wait: async (ms) => {
          const result = after && (await watch.changes(after, ms));
          batch = result === 'behind' ? undefined : result;
          credential ??= credentialHash(req);
          const currentCaller = await identify(req, credential).catch((error: unknown) => {
            // If the database is unavailable, the credential stays accepted.
            if (toProblem(error).status < 500) throw error;
            return caller;
          });
          // Needed for routes that also accept requests without a credential: an expired one is no error there.
          if (auth.keyOf(currentCaller) !== auth.keyOf(caller))
            throw new Unauthorized('The credential is no longer valid.', 'Bearer realm="platform"');
          caller = currentCaller;
          return result !== undefined;
        },
      };
    };
  };
};
