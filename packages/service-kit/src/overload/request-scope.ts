import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { Problem, Unavailable } from '../http/problem.ts';

/** The state of a request while it is answered, and the callbacks that end its work when it is cancelled. */
export interface RequestScope {
  /** The error for all further work; set when the client closes the connection or the deadline passes. */
  cancelled: Problem | undefined;
  /** Called once, on cancellation. */
  onCancel: Set<() => void>;
  /** The widest network of the client. */
  network: string;
  /** The client's networks, widest first, then its credential. Queues take turns by this path. */
  client(): readonly string[];
  /** Number of connections it has used. Started work has priority in the queue. */
  uses: number;
  /** Time until cancellation, in ms; undefined for background work. */
  deadlineMs: number | undefined;
  deadline: NodeJS.Timeout | undefined;
  /** The limit in which it counts as a request in progress. */
  countedIn: ConcurrencyLimit | undefined;
  /** Whether it was answered or its connection was closed, so that it must not be counted again. */
  ended: boolean;
}

/** Fields that the kit adds to requests and responses. They are properties, because a WeakMap look-up costs a microsecond. */
declare module 'http' {
  interface IncomingMessage {
    scope?: RequestScope;
  }
  interface ServerResponse {
    /** Template of the route: its name in logs, metrics and traces. Undefined for system routes. */
    template?: string | undefined;
    /** False if successful requests are not logged. */
    logSuccess?: false | undefined;
    /** `code` of the problem in the response, for the log. */
    problemCode?: string | undefined;
    /** Request headers from which the route reads the credential (`Vary`); undefined if it reads none. */
    varyOn?: string | undefined;
    /** RateLimit headers: name, value, name, value. */
    limitHeaders?: readonly string[];
    /** Headers of a deprecated route: name, value, name, value. */
    deprecationHeaders?: readonly string[] | undefined;
    /** CORS headers (name, value …); undefined if CORS is off, empty for an origin that is not allowed. */
    corsHeaders?: readonly string[] | undefined;
    /** Bytes of the request body that count in the body budget. */
    bodyBytes?: number;
    /** The keys for which these bytes count, until the response is closed. */
    bodyHolders?: readonly string[] | undefined;
    /** Key of the caller's rate limit after authentication; undefined for none. */
    callerKey?: string | undefined;
  }
}

const storage = new AsyncLocalStorage<RequestScope | undefined>();

const clientClosed = (): Problem =>
  new Problem({ status: 499, code: 'client_closed_request', detail: 'The client closed the connection.' });

const deadlinePassed = (): Problem =>
  new Unavailable('deadline_exceeded', 'The request took too long and was cancelled; try again shortly.');

const cancel = (scope: RequestScope, reason: Problem): void => {
  if (scope.cancelled !== undefined) return;
  scope.cancelled = reason;
  for (const callback of scope.onCancel) callback();
};

type ClientInfo = Pick<RequestScope, 'network' | 'client'>;

/** The client of work that was not started by a request. */
const noClient: ClientInfo = { network: '', client: () => ['', ''] };

const createScope = (
  { network, client }: ClientInfo,
  cancelled?: Problem,
  deadlineMs?: number,
): RequestScope => ({
  network,
  client,
  cancelled,
  onCancel: new Set(),
  uses: 0,
  deadlineMs,
  deadline: undefined,
  countedIn: undefined,
  ended: false,
});

/** Stops counting the request as in progress, for good. */
export const stopCounting = (scope: RequestScope | undefined): void => {
  if (scope === undefined) return;
  scope.ended = true;
  scope.countedIn?.leave(scope.network);
  scope.countedIn = undefined;
};

const count = (scope: RequestScope, limit: ConcurrencyLimit): void => {
  if (scope.ended || scope.countedIn) return;
  limit.enter(scope.network);
  scope.countedIn = limit;
};

/**
 * Runs `work` without counting the request as in progress. For waiting that takes no resources from other requests and has a
 * limit of its own: for a lock, a disk or another server.
 */
export const waitUncounted = async <T>(work: () => Promise<T>): Promise<T> => {
  const scope = currentRequest();
  const limit = scope?.countedIn;
  if (scope === undefined || limit === undefined) return work();
  limit.suspend(scope.network);
  scope.countedIn = undefined;
  try {
    return await work();
  } finally {
    count(scope, limit);
  }
};

/** The scope of the request for which the calling code runs; undefined for background work. */
export const currentRequest = (): RequestScope | undefined => storage.getStore();

/**
 * Runs work that does not end with the request, because several requests wait for its result or because it continues after the
 * response. In the connection queue it waits like a new request of the same client, but it is not cancelled with the request.
 */
export const runOutsideRequest = <T>(work: () => T): T =>
  storage.run(createScope(currentRequest() ?? noClient), () => {
    const result = work();
    // postgres.js sends a statement when `then` is called, which must happen in this scope.
    return result instanceof Promise ? (result.then((value: unknown) => value) as T) : result;
  });

/**
 * Awaits work that continues without this request, such as shared work. Meanwhile the request does not count as in progress.
 * Rejects when the request is cancelled first.
 */
export const awaitUntilCancelled = async <T>(work: Promise<T>): Promise<T> => {
  const scope = currentRequest();
  if (scope === undefined) return work;
  const cancelled = Promise.withResolvers<never>();
  const reject = (): void => cancelled.reject(scope.cancelled);
  scope.onCancel.add(reject);
  try {
    return await waitUncounted(() => Promise.race([work, cancelled.promise]));
  } finally {
    scope.onCancel.delete(reject);
  }
};

/**
 * Runs work whose statements are cancelled after `ms`, waiting time included, or with the request. They fail with the error of
 * `createError`, or with that of the request.
 */
export const withDeadline = async <T>(
  ms: number,
  createError: () => Problem,
  work: () => Promise<T>,
): Promise<T> => {
  const outer = currentRequest();
  const scope = createScope(outer ?? noClient, outer?.cancelled);
  const end = (): void => cancel(scope, outer?.cancelled ?? createError());
  const timer = setTimeout(end, ms);
  outer?.onCancel.add(end);
  try {
    // Awaited inside the scope, because postgres.js sends a statement when `then` is called.
    return await storage.run(scope, async () => work());
  } finally {
    clearTimeout(timer);
    outer?.onCancel.delete(end);
  }
};

const passDeadline = (scope: RequestScope): void => cancel(scope, deadlinePassed());

/** Starts the deadline of the request, or starts it again. */
export const startDeadline = ({ scope }: IncomingMessage): void => {
  if (scope?.deadlineMs === undefined || scope.ended) return;
  clearTimeout(scope.deadline);
  scope.deadline = setTimeout(passDeadline, scope.deadlineMs, scope);
};

/** Removes the deadline of a request, for example while its body arrives slowly, until `startDeadline` is called. */
export const withoutDeadline = (req: IncomingMessage): void => clearTimeout(req.scope?.deadline);

interface RequestLimits extends ClientInfo {
  deadlineMs: number;
  concurrency: ConcurrencyLimit;
}

/**
 * Runs `work` for a request. Its database work is cancelled if the client closes the connection, or if the request is not
 * answered within `deadlineMs`. The handler then gets an error, so the response always tells what happened.
 *
 * The request counts as in progress from the end of its body, because slow clients may take long to send it, until it is
 * answered.
 */
export const runInRequestScope = (
  req: IncomingMessage,
  res: ServerResponse,
  { deadlineMs, concurrency, ...client }: RequestLimits,
  work: () => void,
): void => {
  const scope = createScope(client, undefined, deadlineMs);
  req.scope = scope;
  startDeadline(req);
  // An empty body emits no 'end' unless the handler reads it.
  if (req.readableEnded || req.headers['content-length'] === '0') count(scope, concurrency);
  else
    req.once('end', () => {
      if (!res.headersSent) count(scope, concurrency);
    });
  res.on('close', () => {
    clearTimeout(scope.deadline);
    stopCounting(scope);
    if (!res.writableFinished) cancel(scope, clientClosed());
  });
  storage.run(scope, work);
};
