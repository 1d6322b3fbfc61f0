import type { Worker } from 'node:worker_threads';
import type { Log } from '@platform/service-kit/log';
import { startThread } from '@platform/service-kit/thread';
import type { EncodedMessage, MeasuredOutcome, Message, SendOptions } from './attempt.ts';

/** Asks the thread to send a message; without one, to abort the request with this id. */
export interface ThreadRequest {
  id: number;
  message?: EncodedMessage;
}

export interface ThreadAnswer {
  id: number;
  outcome: MeasuredOutcome;
}

/** The heap of the thread in MiB; its requests and answers have a few megabytes together. */
const heapMiB = 64;

const interrupted = (): MeasuredOutcome => ({
  sentAt: new Date(),
  ms: 0,
  status: null,
  error: 'The request was interrupted.',
  answer: null,
  retryAfterMs: undefined,
  isCostly: false,
});

/**
 * Sends requests in a thread, because an answer can be costly to parse, for example in chunks of one byte, and must not delay
 * the callers of the service. The thread starts with the first request; if it ends, with the next one.
 */
export const createRequestThread = (options: SendOptions, log: Log) => {
  let thread: Worker | undefined;
  let lastId = 0;
  const pending = new Map<number, (outcome: MeasuredOutcome) => void>();
  const start = (): Worker => {
    const program = new URL('thread-program.ts', import.meta.url);
    const started = startThread(program, heapMiB, { workerData: options });
    return (
      started
        .on('message', ({ id, outcome }: ThreadAnswer) => pending.get(id)?.(outcome))
        // Followed by `exit`.
        .on('error', (err) =>
          log.warn({ err }, 'the thread that sends to subscribers failed; it will be restarted'),
        )
        .on('exit', () => {
          if (thread === started) thread = undefined;
          for (const resolve of pending.values()) resolve(interrupted());
        })
    );
  };
  const post = (request: ThreadRequest): void => {
    thread ??= start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows of a browser
    thread.postMessage(request);
  };
  return {
    /** Sends a message once. Never rejects. */
    attempt: async (message: Message, aborted: AbortSignal): Promise<MeasuredOutcome> => {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<MeasuredOutcome>();
      pending.set(id, resolve);
      // Resolved at once, because the thread may be busy with other answers.
      const abort = (): void => {
        post({ id });
        resolve(interrupted());
      };
      aborted.addEventListener('abort', abort);
      post({ id, message: { ...message, body: new TextEncoder().encode(message.body) } });
      const outcome = await promise;
      aborted.removeEventListener('abort', abort);
      pending.delete(id);
      return outcome;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await thread?.terminate();
    },
  };
};
