import { ApiError, unwrap, type ApiResult } from './result.ts';

/** The longest time that a service lets a request wait, in seconds. */
const waitSeconds = 25;
/** A request without a response after this time is aborted, in ms: its connection may be dead. */
const responseTimeoutMs = 60_000;
/** The first and the longest pause after a failure, in ms. */
const [firstPauseMs, maxPauseMs] = [1000, 60_000];

/** Parameters of a page of changes. */
export interface FeedQuery {
  after?: string;
  limit: number;
  wait: number;
}

export interface FeedPage<Change> {
  changes: Change[];
  /** The cursor after these changes: store it together with your copy. */
  next: string;
}

export interface FollowOptions {
  /** The cursor of an export, or the `next` of an earlier page; without it only changes from now on are returned. */
  after?: string;
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called with the error of a request before it is retried. */
  onRetry?: (error: unknown) => void;
}

/** Status 410: the service cannot continue from this cursor. Export the list again, and follow it from the new cursor. */
export class CursorGoneError extends ApiError {
  /** The address of the export. */
  readonly exportUrl: string;

  constructor(response: Response, body: unknown) {
    super(response, body);
    this.name = 'CursorGoneError';
    const { origin, pathname } = new URL(response.url);
    this.exportUrl = `${origin}${pathname}/export`;
  }
}

const isTransient = ({ status }: Response): boolean => status === 408 || status === 429 || status >= 500;

const maxRetryAfterMs = 86_400_000;

/** Half of the pause is random, so that clients that failed at the same time do not retry at the same time. */
const pauseMs = (failures: number, response: Response | undefined): number => {
  const longestMs = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
  // Bounded, because a longer timer would end at once.
  const retryAfterMs = Math.min(Number(response?.headers.get('Retry-After') ?? 0) * 1000, maxRetryAfterMs);
  return Math.max(longestMs / 2 + (longestMs / 2) * Math.random(), retryAfterMs || 0);
};

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
    if (signal?.aborted) finish();
  });

/**
 * Follows the changes of a list, page by page, until `signal` aborts. Retries transient failures after a pause. It uses long
 * polling (`wait`) instead of an event stream: changes arrive as early, each request has the current credential, and proxies
 * need not support streams.
 *
 * @throws CursorGoneError when the list has to be exported again; ApiError when a request is refused
 */
export async function* followChanges<Change>(
  fetchPage: (
    query: FeedQuery,
    signal: AbortSignal,
  ) => Promise<ApiResult<FeedPage<Change> & { has_more: boolean }>>,
  { after, signal, onRetry }: FollowOptions = {},
): AsyncGenerator<FeedPage<Change>, void> {
  let cursor = after;
  for (let failures = 0; !signal?.aborted;) {
    const query = { limit: 1000, wait: waitSeconds, ...(cursor !== undefined && { after: cursor }) };
    const signals = [AbortSignal.timeout(responseTimeoutMs), ...(signal ? [signal] : [])];
    let response: Response | undefined;
    try {
      const call = fetchPage(query, AbortSignal.any(signals));
      ({ response } = await call);
      if (response.status === 410) throw new CursorGoneError(response, (await call).error);
      const { changes, next } = await unwrap(call);
      failures = 0;
      const isNew = next !== cursor;
      cursor = next;
      if (isNew) yield { changes, next };
    } catch (error) {
      if (signal?.aborted) return;
      if (response && !isTransient(response)) throw error;
      onRetry?.(error);
      failures += 1;
      await pause(pauseMs(failures, response), signal);
    }
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = (text + decoder.decode(chunk.value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel();
  }
}

/**
 * Reads an export while it arrives: the records of a list, and the cursor from which `followChanges` continues. The call
 * needs `parseAs: 'stream'`. If the export breaks off, iterating over `items` throws: start again.
 *
 * @throws ApiError for a status other than 2xx
 */
export const exportList = async <Item>(
  call: Promise<ApiResult<ReadableStream<Uint8Array> | null>>,
): Promise<{ cursor: string; items: AsyncGenerator<Item, void> }> => {
  const lines = readLines((await unwrap(call)) ?? new ReadableStream());
  const { value } = await lines.next();
  const { cursor } = JSON.parse(String(value)) as { cursor: string };
  const items = async function* (): AsyncGenerator<Item, void> {
    for await (const line of lines) yield JSON.parse(line) as Item;
  };
  return { cursor, items: items() };
};
