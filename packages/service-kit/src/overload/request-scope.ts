import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { Problem, Unavailable } from '../http/problem.ts';

/** A request that is being answered, and what has to end with it. */
export interface RequestScope {
  /** The error of all further work; set when the client has closed the connection or the deadline has passed. */
  cancelled: Problem | undefined;
  /** Called once, when that happens. */
  onCancel: Set<() => void>;
  /** The widest network of its client. */
  network: string;
  /** Who sent it: its networks, the widest first, then the credential. What waits for a connection is shared by that. */
  client(): readonly string[];
  /** How often it has had a connection: work that was begun is not refused at first. */
  uses: number;
  /** After this time it is cancelled, in ms; undefined for work that is no request. */
  deadlineMs: number | undefined;
  deadline: NodeJS.Timeout | undefined;
  /** The limit in which it counts as a request in progress. */
  countedIn: ConcurrencyLimit | undefined;
  /** Whether it was answered or its connection has closed: then it does not count again. */
  ended: boolean;
}

/** What the kit puts on a request and its response: properties, because a WeakMap of requests costs a microsecond each. */
declare module 'http' {
  interface IncomingMessage {
    scope?: RequestScope;
  }
  interface ServerResponse {
    /** Template of the route that answers: what logs, metrics and traces call it. Undefined for system routes. */
    template?: string | undefined;
    /** False where a request that succeeds writes no line. */
    logSuccess?: false | undefined;
    /** `code` of the problem that was answered, for the log. */
    problemCode?: string | undefined;
    /** Request headers that hold the credential of this route (`Vary`); undefined where none is read. */
    varyOn?: string | undefined;
    /** RateLimit headers: name, value, name, value. */
    limitHeaders?: readonly string[];
    /** Headers of a deprecated route: name, value, name, value. */
    deprecationHeaders?: readonly string[] | undefined;
    /** CORS headers (name, value …); undefined where no origin is allowed, empty for an origin that is not. */
    corsHeaders?: readonly string[] | undefined;
    /** Bytes of the request's body that have arrived and were not given back to the budget. */
    bodyBytes?: number;
    /** Key of the caller's rate limit, once the caller is known; undefined for none. */
    callerKey?: string | undefined;
    /** For whom they count in the budget, until the answer is written or the client has gone away. */
    bodyHolders?: readonly string[] | undefined;
  }
}

const storage = new AsyncLocalStorage<RequestScope | undefined>();

const clientGone = (): Problem =>
  new Problem({ status: 499, code: 'client_closed_request', detail: 'The client closed the connection.' });

const deadlinePassed = (): Problem =>
  new Unavailable('deadline_exceeded', 'The request took too long and was cancelled; try again shortly.');

const cancel = (scope: RequestScope, reason: Problem): void => {
  if (scope.cancelled !== undefined) return;
  scope.cancelled = reason;
  for (const callback of scope.onCancel) callback();
};

type Sender = Pick<RequestScope, 'network' | 'client'>;

/** Of work that belongs to no single request. */
const nobody: Sender = { network: '', client: () => ['', ''] };

const createScope = (
  { network, client }: Sender,
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

/** From now on the request is not in progress, for the limit of such requests. */
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
 * Awaits what takes nothing from other requests, such as a lock, a disk or another server, and has a limit of its own:
 * the request that waits does not count as in progress.
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

/** The request that the calling code works for; undefined for background work. */
export const currentRequest = (): RequestScope | undefined => storage.getStore();

/**
 * Runs work that belongs to no single request, because several wait for its result or because it goes on after the
 * answer: it waits for a connection like the request that started it, and in its turn, but is not cancelled with it.
 */
export const runOutsideRequest = <T>(work: () => T): T =>
  storage.run(createScope(currentRequest() ?? nobody), () => {
    const result = work();
    // A statement is sent when somebody asks for its result, which has to happen here.
    return result instanceof Promise ? (result.then((value: unknown) => value) as T) : result;
  });

/** Awaits work that continues without this request, such as shared work. Rejects when the request is cancelled first. */
export const awaitUntilCancelled = async <T>(work: Promise<T>): Promise<T> => {
  const scope = currentRequest();
  if (scope === undefined) return work;
  const cancelled = Promise.withResolvers<never>();
  const reject = (): void => cancelled.reject(scope.cancelled);
  scope.onCancel.add(reject);
  try {
    return await Promise.race([work, cancelled.promise]);
  } finally {
    scope.onCancel.delete(reject);
  }
};

/**
 * Runs work whose statements are cancelled when `ms` are over, waiting included, or with the request. They fail with
 * `reason`, or with that of the request.
 */
export const withDeadline = async <T>(
  ms: number,
  reason: () => Problem,
  work: () => Promise<T>,
): Promise<T> => {
  const outer = currentRequest();
  const scope = createScope(outer ?? nobody, outer?.cancelled);
  const end = (): void => cancel(scope, outer?.cancelled ?? reason());
  const timer = setTimeout(end, ms);
  outer?.onCancel.add(end);
  try {
    // Awaited in there: a statement is sent when somebody asks for its result.
    return await storage.run(scope, async () => work());
  } finally {
    clearTimeout(timer);
    outer?.onCancel.delete(end);
  }
};

const passDeadline = (scope: RequestScope): void => cancel(scope, deadlinePassed());

/** The time that the request has begins now. */
export const startDeadline = ({ scope }: IncomingMessage): void => {
  if (scope?.deadlineMs === undefined || scope.ended) return;
  clearTimeout(scope.deadline);
  scope.deadline = setTimeout(passDeadline, scope.deadlineMs, scope);
};

/** A request that takes as long as its body has no deadline, until `startDeadline`. */
export const withoutDeadline = (req: IncomingMessage): void => clearTimeout(req.scope?.deadline);

interface RequestLimits extends Sender {
  deadlineMs: number;
  concurrency: ConcurrencyLimit;
}

/**
 * Runs `work` for a request. Database work is cancelled when the client has closed the connection, and when the request
 * is not answered `deadlineMs` after it arrived. The handler then gets an error, so the answer always tells what has
 * happened.
 *
 * The request is in progress, for the concurrency limit, from the end of its body, for which slow clients may take long,
 * until it is answered.
 */
export const runInRequestScope = (
  req: IncomingMessage,
  res: ServerResponse,
  { deadlineMs, concurrency, ...sender }: RequestLimits,
  work: () => void,
): void => {
  const scope = createScope(sender, undefined, deadlineMs);
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
    if (!res.writableFinished) cancel(scope, clientGone());
  });
  storage.run(scope, work);
};
