import {
  AnswerTooLarge,
  sendRequest,
  type Addresses,
  type OutboundAnswer,
} from '@platform/service-kit/outbound';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import { Webhook } from 'standardwebhooks';
import { loopHeader } from './loop.ts';

/** A message to a subscriber. */
export interface Message {
  /** The creator of the subscription. */
  subject: string;
  url: string;
  /** The id of the event, the same for each attempt. */
  event: string;
  body: string;
  secrets: readonly string[];
}

/** A message for the thread. The bytes of the body are not in its heap, so that slow subscribers cannot fill it. */
export interface EncodedMessage extends Omit<Message, 'body'> {
  body: Uint8Array;
}

/** The outcome of one attempt. */
export interface Outcome {
  sentAt: Date;
  ms: number;
  /** Null if there was no answer. */
  status: number | null;
  /** Why it was not delivered; null if it was. */
  error: string | null;
  /** The start of the answer; null if it is empty or the change was delivered. */
  answer: string | null;
  /** Retry-After of the answer in ms. */
  retryAfterMs: number | undefined;
}

export interface MeasuredOutcome extends Outcome {
  /** Whether the answer took much longer to parse than others, for example because it has thousands of chunks. */
  isCostly: boolean;
}

export interface SendOptions {
  addresses: Addresses;
  timeoutMs: number;
}

/** The headers with a signature of the body by each secret. Source: Standard Webhooks 1.0.0, section Signature scheme. */
export const signedHeaders = (secrets: readonly string[], event: string, body: string, at: Date) => ({
  ...loopHeader,
  'content-type': 'application/json',
  'webhook-id': event,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event, at, body)).join(' '),
});

/** Maximum number of bytes of an answer that are stored. */
const maxStored = 1024;

/** The start of an answer as text that PostgreSQL can store. */
const startOf = (answer: Buffer): string | null =>
  answer.length === 0 ? null : answer.toString('utf8', 0, maxStored).replaceAll('\0', '\uFFFD');

/** Bytes of an answer that are read. Nearly all answers are shorter, so their connections can be reused; it bounds memory. */
const maxRead = 16_384;
/** An answer with more bytes of chunk framing than this is costly: about a hundred chunks. */
const maxFraming = 512;
const dayMs = 86_400_000;

const retryAfterOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
};

/** Sends a message once. Never rejects. */
export const attempt = async (
  { url, event, body, secrets }: EncodedMessage,
  { addresses, timeoutMs }: SendOptions,
  aborted: AbortSignal,
): Promise<MeasuredOutcome> => {
  const sentAt = new Date();
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), aborted]);
  let answer: OutboundAnswer | undefined;
  let isCostly = false;
  const resultOf = (result: Partial<MeasuredOutcome>): MeasuredOutcome => ({
    sentAt,
    ms: Date.now() - sentAt.getTime(),
    status: null,
    error: null,
    answer: null,
    retryAfterMs: undefined,
    isCostly: isCostly || (answer?.framing() ?? 0) > maxFraming,
    ...result,
  });
  try {
    const headers = signedHeaders(secrets, event, Buffer.from(body).toString(), sentAt);
    const onCostlyHead = () => void (isCostly = true);
    const request = { method: 'POST', headers, body, addresses, signal, onCostlyHead } as const;
    answer = await sendRequest(new URL(url), request);
    const { status } = answer;
    // The status counts even if the body cannot be read.
    const content = await answer.readStart(maxRead).catch((error: unknown) => {
      if (error instanceof AnswerTooLarge) throw error;
      return Buffer.alloc(0);
    });
    const isDelivered = status >= 200 && status <= 299;
    return resultOf({
      status,
      error: isDelivered ? null : `The subscriber answered ${status}.`,
      answer: isDelivered ? null : startOf(content),
      retryAfterMs: isDelivered ? undefined : retryAfterOf(answer.headers['retry-after']),
    });
  } catch (error) {
    return resultOf({
      error: signal.aborted ? 'The subscriber did not answer in time.' : safeErrorMessage(error),
    });
  }
};
