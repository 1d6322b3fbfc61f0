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

/** How old the answer about a credential may be. A guard may have kept it for 750 ms: together less than a second. */
const answerMs = 240;

/** Stands for the credential of a request, of which nothing is kept: its headers may be long. */
export const credentialOf = ({ headers }: IncomingMessage): string =>
  hash('sha256', JSON.stringify([headers.authorization, headers['x-api-key'], headers.cookie]));

/** Tells who has a credential now; all requests with it share the answer for a moment. */
export const createIdentities = <Caller>(auth: Pick<Guard<Caller>, 'identify'>) => {
  const answers = new Map<string, Promise<Caller>>();
  return {
    /** Rejects as the guard does. */
    identify: (req: IncomingMessage, credential: string): Promise<Caller> => {
      const known = answers.get(credential);
      if (known !== undefined) return known;
      const caller = runOutsideRequest(async () => auth.identify(req, noLookupLimit));
      answers.set(credential, caller);
      setTimeout(() => answers.delete(credential), answerMs).unref();
      return caller;
    },
    /** How many answers are kept. */
    get size(): number {
      return answers.size;
    },
  };
};

const maxCallers = 10_000;
/** Characters of the pages of a batch that are kept for readers who come later. */
const maxKept = 2 ** 20;
/** Pages that are read at the same time for one caller, so that many who come back at once leave connections to others. */
const atOnce = 2;

/** A change as its reader gets it. */
export interface SeenChange {
  change: LoggedChange;
  json: string;
}

export interface SeenPage extends Omit<LogPage, 'changes'> {
  changes: readonly SeenChange[];
}

/** What reads a list for one request. */
export interface Reader {
  /** The next page: from what was read for all, or else read for this request alone. */
  read(this: void): Promise<SeenPage>;
  /**
   * Waits for up to `ms`; true when there may be a page to read. Throws Unauthorized when the credential is no longer valid.
   */
  wait(ms: number): Promise<boolean>;
}

interface Request<Caller> {
  req: IncomingMessage;
  caller: Caller;
  query: object;
  /** Undefined begins at the end of the feed. */
  after: Cursor | undefined;
  /** Changes of a page at most. */
  limit: number;
  /** Of a page that was read for all; `limit` unless given. */
  sharedLimit?: number;
}

const gone = {
  unknown: 'This feed has never given this cursor, perhaps because its database was restored.',
  expired: 'The changes after this cursor are no longer kept.',
};

const cursorGone = (reason: 'unknown' | 'expired', why = gone[reason]): Problem => {
  const detail = `${why} Export the list, and go on from the cursor of the export.`;
  return new Problem({ status: 410, code: `cursor_${reason}`, detail });
};

const pageOrThrow = (page: keyof typeof gone | LogPage): LogPage => {
  if (typeof page === 'string') throw cursorGone(page);
  return page;
};

/** Throws when memberships are among these changes. */
const requireSameOwners = (changes: readonly LoggedChange[], list: string): void => {
  if (changes.some((change) => change.list !== list))
    throw cursorGone('unknown', 'You have gained or lost records of others since this cursor.');
};

/** Makes what reads a list for one request. Readers at the end of the feed share what is read. */
export const createReaders = (options: FeedOptions) => {
  const {
    database: { sql },
    days,
    byOwner,
  } = options;
  const turns = createLru<string, PQueue>(maxCallers, 0, () => new PQueue({ concurrency: atOnce }));
  return <Caller>(followed: FollowedList<Caller>) => {
    const { list, auth, items, rights, memberships } = followed;
    const { identify } = createIdentities(auth);
    const watch = createWatch(options, { list, memberships: memberships?.list });
    /** The page up to the change with whose item it would be too large. */
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
      const found = ids.size > 0 ? await items(sql, [...ids], caller) : new Map<string, string>();
      const changes = page.changes.map((change) => {
        const item = change.action === 'deleted' ? undefined : found.get(change.id);
        const json = JSON.stringify(changeOf(change));
        return { change, json: item === undefined ? json : `${json.slice(0, -1)},"item":${item}}` };
      });
      return { ...page, changes };
    };

    return ({ req, query, limit, sharedLimit = limit, ...start }: Request<Caller>): Reader => {
      let credential: string | undefined;
      let { caller, after } = start;
      let batch: Batch | undefined;
      let others: readonly string[] | undefined;

      /**
       * Those of memberships are read once, and after the place is known where the reader begins: each change of them is behind
       * that place, or in them already.
       */
      const ownersNow = async (): Promise<readonly string[] | undefined> => {
        const owners = ownersOf(followed, query, caller);
        if (memberships === undefined || after === undefined) return owners;
        others ??= await memberships.owners(sql, caller);
        return [...(owners ?? []), ...others];
      };
      const readByMyself = async (owners: readonly string[] | undefined): Promise<SeenPage> => {
        const isBehind = await moveChanges(sql);
        const request = { list, after, owners, memberships: memberships?.list, limit, days, byOwner };
        const page = pageOrThrow(await readLog(sql, request));
        requireSameOwners(page.changes, list);
        return withItems({ ...page, hasMore: page.hasMore || isBehind }, caller);
      };
      /** Undefined when it has more than a page. */
      const shareOf = (from: Batch, owners: readonly string[] | undefined): Promise<SeenPage> | undefined => {
        const position = after?.position ?? 0n;
        const key = JSON.stringify([rights(caller), owners, String(position), sharedLimit]);
        const known = from.shared.get(key) as Promise<SeenPage> | undefined;
        if (known !== undefined || from.shared.has(key)) return known;
        const owned = owners && new Set<string | null>(owners);
        const changes = from.changes.filter(
          ({ version, owner }) => version > position && (owned?.has(owner) ?? true),
        );
        requireSameOwners(changes, list);
        const page =
          changes.length > sharedLimit
            ? undefined
            : runOutsideRequest(() => withItems({ ...from, changes }, caller));
        from.shared.set(key, page);
        const forget = () => from.shared.delete(key);
        // One caller can ask for many, by other limits and owners.
        void page?.then(({ changes: seen }) => {
          from.kept += seen.reduce((sum, { json }) => sum + json.length, 0);
          if (from.kept > maxKept) forget();
        }, forget);
        return page;
      };
      return {
        read: async () => {
          const inTurn = () =>
            turns.memo(callerKey(auth, caller)).add(async () => readByMyself(await ownersNow()));
          const page = await ((batch && shareOf(batch, await ownersNow())) ?? inTurn());
          after = page.next;
          batch = undefined;
          return page;
        },
        wait: async (ms) => {
          const found = after && (await watch.changes(after, ms));
          batch = found === 'behind' ? undefined : found;
          credential ??= credentialOf(req);
          const now = await identify(req, credential).catch((error: unknown) => {
            // A database that is away says nothing about a credential.
            if (toProblem(error).status < 500) throw error;
            return caller;
          });
          // Where a credential may be missing, one that has expired is no error.
          if (auth.keyOf(now) !== auth.keyOf(caller))
            throw new Unauthorized('The credential is no longer valid.', 'Bearer realm="platform"');
          caller = now;
          return found !== undefined;
        },
      };
    };
  };
};
