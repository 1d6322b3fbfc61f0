import { parentPort, workerData } from 'node:worker_threads';
import { attempt, type SendOptions } from './attempt.ts';
import type { ThreadAnswer, ThreadRequest } from './request-thread.ts';

// The program of the thread that `createRequestThread` starts.

const running = new Map<number, AbortController>();

parentPort?.on('message', async ({ id, message }: ThreadRequest) => {
  if (message === undefined) return running.get(id)?.abort();
  const aborted = new AbortController();
  running.set(id, aborted);
  const outcome = await attempt(message, workerData as SendOptions, aborted.signal);
  running.delete(id);
  const answer: ThreadAnswer = { id, outcome };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows of a browser
  parentPort?.postMessage(answer);
});
