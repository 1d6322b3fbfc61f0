import type { Worker } from 'node:worker_threads';
import { createFairPlaces } from '../overload/fair-places.ts';
import type { Log } from '../process/log.ts';
import { createLru } from '../process/lru.ts';
import { SafeError } from '../process/safe-error.ts';
import { startThread } from '../process/thread.ts';
import { AnswerTooLarge, PrivateAddress, type Addresses } from './outbound.ts';

/** An address that a client of the service has chosen, such as that of a subscriber. */
interface Target {
  /** Who chose the address. Requests of one subject share limits. */
  subject: string;
  url: string;
}

export interface ForeignRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  addresses: Addresses;
  /** Counted from the start of the request. */
  timeoutMs: number;
  /** Reads the whole body of a 2xx response. Otherwise up to 16 KiB, and less if they cannot be read. */
  wholeBody?: boolean;
}

export interface ForeignAnswer {
  status: number;
  /** The header Retry-After. */
  retryAfter: string | undefined;
  body: Uint8Array;
}

/** The server gave no answer, or not in time. The message has neither the address nor data. */
export class NoForeignAnswer extends SafeError {
  /** Whether the server did not answer in time. */
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** A request for the thread. The bytes of the body are not in its heap, so that slow servers cannot fill it. */
export interface EncodedRequest extends Target, Omit<ForeignRequest, 'body'> {
  body?: Uint8Array | undefined;
}

/** Asks the thread to send a request; without one, to abort the request with this id. */
export interface ThreadRequest {
  id: number;
  request?: EncodedRequest;
}

export interface Failure {
  reason: 'private address' | 'too large' | 'timeout' | 'other';
  message: string;
}

export interface ThreadAnswer {
  id: number;
  result: ForeignAnswer | Failure;
  /** Whether the answer took much longer to process than others, for example because it has thousands of chunks. */
  isCostly: boolean;
}

/** The heap of a thread in MiB; its requests and answers have a few megabytes together. */
const heapMiB = 64;

const interrupted: Omit<ThreadAnswer, 'id'> = {
  result: { reason: 'other', message: 'The request was interrupted.' },
  isCostly: false,
};

/** Sends requests in a thread, which starts with the first request and, if it ends, with the next one. */
const createThread = (log: Log) => {
  let thread: Worker | undefined;
  let isDisposed = false;
  let lastId = 0;
  const pending = new Map<number, (answer: Omit<ThreadAnswer, 'id'>) => void>();
  const start = (): Worker => {
    const started = startThread(new URL('outbound-program.ts', import.meta.url), heapMiB, {});
    return (
      started
        .on('message', ({ id, ...answer }: ThreadAnswer) => pending.get(id)?.(answer))
        // Followed by `exit`.
        .on('error', (err) => log.warn({ err }, 'a thread that sends requests failed; it will be restarted'))
        .on('exit', () => {
          if (thread === started) thread = undefined;
          for (const resolve of pending.values()) resolve(interrupted);
        })
    );
  };
  return {
    /** Sends a request. Never rejects. */
    send: async (request: EncodedRequest, aborted: AbortSignal) => {
      // A new thread would keep the process alive, and a signal that is already aborted reports nothing later.
      if (isDisposed || aborted.aborted) return interrupted;
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Omit<ThreadAnswer, 'id'>>();
      pending.set(id, resolve);
      // Resolved at once, because the thread may be busy with other answers.
      const abort = (): void => {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows of a browser
        thread?.postMessage({ id } satisfies ThreadRequest);
        resolve(interrupted);
      };
      aborted.addEventListener('abort', abort);
      thread ??= start();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows of a browser
      thread.postMessage({ id, request } satisfies ThreadRequest);
      const answer = await promise;
      aborted.removeEventListener('abort', abort);
      pending.delete(id);
      return answer;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      isDisposed = true;
      await thread?.terminate();
    },
  };
};

/** Maximum number of subjects of which something is remembered. */
const maxSubjects = 10_000;
/** Maximum concurrent requests of a subject; half of them to one host. */
const maxPerSubject = 64;
/** The same for a costly subject: one request to a host. */
const maxPerCostlySubject = 2;
/** A subject is costly for this time after its last costly answer. */
const costlyMs = 3_600_000;

const errorOf = ({ reason, message }: Failure): Error => {
  if (reason === 'private address') return new PrivateAddress();
  if (reason === 'too large') return new AnswerTooLarge();
  return new NoForeignAnswer(message, reason === 'timeout');
};

/**
 * Sends requests to addresses that clients have chosen. A TLS handshake or an answer can take much processor time, so a thread
 * sends them, and the callers of the service do not wait for it. A slow host gets a bounded number of requests of each subject,
 * so it delays neither the other hosts of a subject nor other subjects, which may use the same host (a relay). Subjects with
 * costly answers share a second thread, so that they delay only each other (docs/adr/0197).
 */
export const createOutboundThreads = (log: Log) => {
  const subjects = createLru<string, ReturnType<typeof createFairPlaces>>(maxSubjects, 0, () =>
    createFairPlaces(maxPerSubject),
  );
  const costlySubjects = createLru<string, ReturnType<typeof createFairPlaces>>(maxSubjects, costlyMs);
  const thread = createThread(log);
  const threadOfCostly = createThread(log);
  const sendNow = async (
    target: Target,
    { body, ...request }: ForeignRequest,
    aborted: AbortSignal,
  ): Promise<ForeignAnswer> => {
    const { subject } = target;
    const subjectThread = costlySubjects.has(subject) ? threadOfCostly : thread;
    const bytes = body === undefined ? undefined : new TextEncoder().encode(body);
    const { result, isCostly } = await subjectThread.send({ ...target, ...request, body: bytes }, aborted);
    if (isCostly)
      costlySubjects.set(subject, costlySubjects.get(subject) ?? createFairPlaces(maxPerCostlySubject));
    if ('reason' in result) throw errorOf(result);
    return result;
  };
  return {
    /**
     * Sends the request that `prepare` returns when the subject has a free place; nothing if it returns undefined. Rejects with
     * PrivateAddress, AnswerTooLarge or NoForeignAnswer.
     */
    send: <Prepared extends ForeignRequest | undefined>(
      target: Target,
      prepare: () => Prepared,
      aborted: AbortSignal,
    ): Promise<ForeignAnswer | Extract<Prepared, undefined>> => {
      const runInPlace = costlySubjects.get(target.subject) ?? subjects.memo(target.subject);
      return runInPlace(new URL(target.url).host, async () => {
        const request = prepare();
        if (request === undefined) return request as Extract<Prepared, undefined>;
        return sendNow(target, request, aborted);
      });
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await Promise.all([thread, threadOfCostly].map((each) => each[Symbol.asyncDispose]()));
    },
  };
};

export type OutboundThreads = ReturnType<typeof createOutboundThreads>;
