import type { Addresses } from '@platform/service-kit/outbound';
import {
  NoForeignAnswer,
  type ForeignRequest,
  type OutboundThreads,
} from '@platform/service-kit/outbound-threads';
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

export interface SendOptions {
  outbound: OutboundThreads;
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
const startOf = (answer: Uint8Array): string | null =>
  answer.length === 0
    ? null
    : Buffer.from(answer.subarray(0, maxStored)).toString().replaceAll('\0', '\uFFFD');

const dayMs = 86_400_000;

const retryAfterOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
};

/** When a message may no longer be sent, and when a running request is aborted. */
export interface Turn {
  isOver(): boolean;
  aborted: AbortSignal;
}

/** Creates a function that sends a message once. It never rejects. */
export const createSend =
  ({ outbound, addresses, timeoutMs }: SendOptions) =>
  /** Returns undefined if `isOver` was true before the request started, or `aborted` before it was answered. */
  async (
    { subject, url, event, body, secrets }: Message,
    { isOver, aborted }: Turn,
  ): Promise<Outcome | undefined> => {
    let sentAt = new Date();
    const resultOf = (result: Partial<Outcome>): Outcome => ({
      sentAt,
      ms: Date.now() - sentAt.getTime(),
      status: null,
      error: null,
      answer: null,
      retryAfterMs: undefined,
      ...result,
    });
    const prepare = (): ForeignRequest | undefined => {
      if (isOver()) return undefined;
      sentAt = new Date();
      const headers = signedHeaders(secrets, event, body, sentAt);
      return { method: 'POST', headers, body, addresses, timeoutMs };
    };
    try {
      const answer = await outbound.send({ subject, url }, prepare, aborted);
      if (answer === undefined) return undefined;
      const { status } = answer;
      const isDelivered = status >= 200 && status <= 299;
      return resultOf({
        status,
        error: isDelivered ? null : `The subscriber answered ${status}.`,
        answer: isDelivered ? null : startOf(answer.body),
        retryAfterMs: isDelivered ? undefined : retryAfterOf(answer.retryAfter),
      });
    } catch (error) {
      if (aborted.aborted) return undefined;
      const isTimeout = error instanceof NoForeignAnswer && error.isTimeout;
      return resultOf({
        error: isTimeout ? 'The subscriber did not answer in time.' : safeErrorMessage(error),
      });
    }
  };

export type Send = ReturnType<typeof createSend>;
