import { parentPort } from 'node:worker_threads';
import { safeErrorMessage } from '../process/safe-error.ts';
import { AnswerTooLarge, PrivateAddress, sendRequest, type OutboundAnswer } from './outbound.ts';
import type { EncodedRequest, Failure, ThreadAnswer, ThreadRequest } from './outbound-threads.ts';

// The program of the threads that `createOutboundThreads` starts.

/** Bytes that are read of a body unless the whole is asked for. Nearly all are shorter, so their connections can be reused. */
const maxRead = 16_384;

const failureOf = (error: unknown, isAborted: boolean): Failure => {
  if (error instanceof PrivateAddress) return { reason: 'private address', message: error.message };
  if (error instanceof AnswerTooLarge) return { reason: 'too large', message: error.message };
  return { reason: isAborted ? 'timeout' : 'other', message: safeErrorMessage(error) };
};

const readBody = async (
  { status, read, readStart }: OutboundAnswer,
  isWhole: boolean,
): Promise<Uint8Array> => {
  if (isWhole && status >= 200 && status <= 299) return read();
  // The status counts even if the body cannot be read.
  return readStart(maxRead).catch((error: unknown) => {
    if (error instanceof AnswerTooLarge) throw error;
    return new Uint8Array();
  });
};

const send = async (
  { url, timeoutMs, wholeBody = false, ...request }: EncodedRequest,
  aborted: AbortSignal,
): Promise<Omit<ThreadAnswer, 'id'>> => {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), aborted]);
  let answer: OutboundAnswer | undefined;
  let isCostly = false;
  const onCostly = () => void (isCostly = true);
  try {
    answer = await sendRequest(new URL(url), { ...request, signal, onCostly });
    const { status, headers } = answer;
    // In memory of its own, which the message hands over; a Buffer may be a part of memory that is still used.
    const body = Uint8Array.from(await readBody(answer, wholeBody));
    const result = { status, retryAfter: headers['retry-after'], body };
    return { result, isCostly: isCostly || answer.isCostly() };
  } catch (error) {
    return { result: failureOf(error, signal.aborted), isCostly: isCostly || answer?.isCostly() === true };
  }
};

const running = new Map<number, AbortController>();

parentPort?.on('message', async ({ id, request }: ThreadRequest) => {
  if (request === undefined) return running.get(id)?.abort();
  const aborted = new AbortController();
  running.set(id, aborted);
  const answer: ThreadAnswer = { id, ...(await send(request, aborted.signal)) };
  running.delete(id);
  parentPort?.postMessage(answer, 'body' in answer.result ? [answer.result.body.buffer as ArrayBuffer] : []);
});
