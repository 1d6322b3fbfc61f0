import { ApiError, unwrap, type ApiResult } from './result.ts';

/** The longest time that a service lets a request wait, in seconds. */
const wait = 25;
/** A request without an answer for so long is given up, in ms: its connection may be dead. */
const answerMs = 60_000;
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
  /** The cursor behind these changes: store it with what you make of them. */
  next: string;
}

export interface FollowOptions {
  /** The cursor of an export, or the `next` of an earlier page; without it only what changes from now on comes. */
  after?: string;
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called with what made a request fail that will be sent again. */
  onRetry?: (error: unknown) => void;
}

/** 410: the service cannot go on from this cursor. Export the list again, and follow from the cursor of the export. */
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

/** Half of the pause is random, so that clients that failed together do not come back together. */
const pauseMs = (failures: number, response: Response | undefined): number => {
  const full = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
  const asked = Number(response?.headers.get('Retry-After') ?? 0) * 1000;
  return Math.max(full / 2 + (full / 2) * Math.random(), asked || 0);
};

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });

/**
 * Follows the changes of a list, page by page, until `signal` aborts: what fails in passing is asked again after a pause. It
 * asks with `wait` and reads no stream of events: changes come as soon, each request has the current credential, and no proxy
 * on the way has to let a stream through.
 *
 * @throws CursorGoneError when the list has to be exported again; ApiError for a request that is refused
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
    const query = { limit: 1000, wait, ...(cursor !== undefined && { after: cursor }) };
    const ends = [AbortSignal.timeout(answerMs), ...(signal ? [signal] : [])];
    let response: Response | undefined;
    try {
      const call = fetchPage(query, AbortSignal.any(ends));
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

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (text + decoder.decode(piece.value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel();
  }
}

/**
 * Reads an export as it arrives: the records of a list, and the cursor from which `followChanges` goes on. The call needs
 * `parseAs: 'stream'`. An export that breaks off throws while it is iterated over: begin again.
 *
 * @throws ApiError for a status other than 2xx
 */
export const exportList = async <Item>(
  call: Promise<ApiResult<ReadableStream<Uint8Array> | null>>,
): Promise<{ cursor: string; items: AsyncGenerator<Item, void> }> => {
  const lines = linesOf((await unwrap(call)) ?? new ReadableStream());
  const { value } = await lines.next();
  const { cursor } = JSON.parse(String(value)) as { cursor: string };
  const items = async function* (): AsyncGenerator<Item, void> {
    for await (const line of lines) yield JSON.parse(line) as Item;
  };
  return { cursor, items: items() };
};
