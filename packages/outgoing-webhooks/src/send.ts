import { createHmac } from 'node:crypto';
import { createLru } from '@platform/service-kit/lru';
import { AnswerTooLarge, sendRequest, type Addresses } from '@platform/service-kit/outbound';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import { createTally } from '@platform/service-kit/tally';
import { Webhook } from 'standardwebhooks';

/**
 * Limits concurrent work to `max`. A group, such as the requests to one host, may not run more work than there are free places:
 * slow groups always leave room for another group.
 */
export const createFairPlaces = (max: number) => {
  const running = createTally();
  const waiting: { group: string; start(): void }[] = [];
  let free = max;
  const isOpenTo = (group: string): boolean => running.get(group) < free;
  const firstOpen = () => waiting.find(({ group }) => isOpenTo(group));
  const take = (group: string): void => {
    free--;
    running.add(group, 1);
  };
  const leave = (group: string): void => {
    free++;
    running.add(group, -1);
    for (let next = firstOpen(); next !== undefined; next = firstOpen()) {
      waiting.splice(waiting.indexOf(next), 1);
      take(next.group);
      next.start();
    }
  };
  /** Runs `work` when its group has a free place. */
  return async <T>(group: string, work: () => Promise<T> | T): Promise<T> => {
    if (isOpenTo(group)) take(group);
    else await new Promise<void>((start) => waiting.push({ group, start }));
    try {
      return await work();
    } finally {
      leave(group);
    }
  };
};

/** The input that the secret of a subscription is derived from. */
export interface SecretSource {
  id: string;
  /** Number of its current secret, from 1. */
  generation: number;
}

/**
 * The secret of a subscription (`whsec_` and 256 bits in base64, the format of Standard Webhooks). It is derived from a key of
 * the service, so that it is not stored.
 */
export const secretOf = (key: string, { id, generation }: SecretSource): string =>
  `whsec_${createHmac('sha256', key).update(`${id}.${generation}`).digest('base64')}`;

/** The headers with a signature of the body by each secret. Source: Standard Webhooks 1.0.0, section Signature scheme. */
export const signedHeaders = (secrets: readonly string[], event: string, body: string, at: Date) => ({
  'content-type': 'application/json',
  'webhook-id': event,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event, at, body)).join(' '),
});

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
  addresses: Addresses;
  timeoutMs: number;
}

/** When a message may no longer be sent, and when a running request is aborted. */
export interface Turn {
  isOver(): boolean;
  aborted: AbortSignal;
}

/** Maximum concurrent requests of a subject; half of them to one host. */
const maxPerSubject = 64;
/** Maximum number of bytes of an answer that are stored. */
const maxStored = 1024;

/** The start of an answer as text that PostgreSQL can store. */
const startOf = (answer: Buffer): string | null =>
  answer.length === 0 ? null : answer.toString('utf8', 0, maxStored).replaceAll('\0', '\uFFFD');

/** Bytes of an answer that are read. Nearly all answers are shorter, so their connections can be reused; it bounds memory. */
const maxRead = 16_384;
const dayMs = 86_400_000;

const retryAfterOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
};

/**
 * Creates a function that sends a message. A slow host gets a bounded number of requests of each subject, so it delays neither
 * the other hosts of a subject nor other subjects, which may use the same host (a relay).
 */
export const createSend = ({ addresses, timeoutMs }: SendOptions) => {
  const subjects = createLru<string, ReturnType<typeof createFairPlaces>>(10_000, 0, () =>
    createFairPlaces(maxPerSubject),
  );
  const attempt = async ({ url, event, body, secrets }: Message, aborted: AbortSignal): Promise<Outcome> => {
    const sentAt = new Date();
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), aborted]);
    const resultOf = (result: Partial<Outcome>): Outcome => ({
      sentAt,
      ms: Date.now() - sentAt.getTime(),
      status: null,
      error: null,
      answer: null,
      retryAfterMs: undefined,
      ...result,
    });
    try {
      const headers = signedHeaders(secrets, event, body, sentAt);
      const answer = await sendRequest(new URL(url), { method: 'POST', headers, body, addresses, signal });
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
  /** Never rejects. Returns undefined if `isOver` was true before the request started, or `aborted` before it was answered. */
  return async (message: Message, { isOver, aborted }: Turn): Promise<Outcome | undefined> => {
    const runInPlace = subjects.memo(message.subject);
    const sent = await runInPlace(new URL(message.url).host, () =>
      isOver() ? undefined : attempt(message, aborted),
    );
    return sent?.error != null && aborted.aborted ? undefined : sent;
  };
};

export type Send = ReturnType<typeof createSend>;
