import { createHmac } from 'node:crypto';
import { createLru } from '@platform/service-kit/lru';
import { sendRequest, type Addresses } from '@platform/service-kit/outbound';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import { createTally } from '@platform/service-kit/tally';
import { Webhook } from 'standardwebhooks';
import { keptAnswer } from './kept-answer.ts';

/**
 * Bounds work to `most` at a time. A group, such as the requests to one host, begins no more than what the others leave free:
 * slow groups always leave room for another one.
 */
export const createFairPlaces = (most: number) => {
  const running = createTally();
  const waiting: { group: string; begin(): void }[] = [];
  let free = most;
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
      next.begin();
    }
  };
  /** Runs `work` when there is a place for its group. */
  return async <T>(group: string, work: () => Promise<T> | T): Promise<T> => {
    if (isOpenTo(group)) take(group);
    else await new Promise<void>((begin) => waiting.push({ group, begin }));
    try {
      return await work();
    } finally {
      leave(group);
    }
  };
};

/** What the secrets of a subscription are derived from. */
export interface SecretOf {
  id: string;
  /** Counts its secrets. */
  generation: number;
}

/**
 * The secret of a subscription (`whsec_` and base64 of 256 bits, as Standard Webhooks writes it). It is derived from a key of
 * the service, so that no table has it.
 */
export const secretOf = (key: string, { id, generation }: SecretOf): string =>
  `whsec_${createHmac('sha256', key).update(`${id}.${generation}`).digest('base64')}`;

/** The headers that sign a body by each of the secrets. Source: Standard Webhooks 1.0.0, section Signature scheme. */
export const signedHeaders = (secrets: readonly string[], event: string, body: string, at: Date) => ({
  'content-type': 'application/json',
  'webhook-id': event,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event, at, body)).join(' '),
});

/** A message to a subscriber. */
export interface Message {
  /** Who made the subscription. */
  subject: string;
  url: string;
  /** Its id, the same at each attempt. */
  event: string;
  body: string;
  secrets: readonly string[];
}

/** What came of one attempt. */
export interface Sent {
  sentAt: Date;
  ms: number;
  /** Null where there was no answer. */
  status: number | null;
  /** Why it counts as not delivered; null where it was delivered. */
  error: string | null;
  /** What is kept of the answer, where it was not delivered. */
  answer: string | null;
  /** How long the subscriber asks to wait, in ms. */
  retryAfterMs: number | undefined;
}

export interface SendOptions {
  addresses: Addresses;
  timeoutMs: number;
}

/** When a message is sent no more, and when it is broken off. */
export interface Turn {
  isOver(): boolean;
  aborted: AbortSignal;
}

/** Requests of all subscriptions of a subject at the same time; half of them to one host. */
const ofSubject = 64;
/** What is read of an answer: enough that the connections of nearly all stay open. Others' answers are in memory at once. */
const maxRead = 16_384;
const dayMs = 86_400_000;

const retryAfterOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
};

/**
 * Makes a function that sends a message. A host that is slow has a bounded number of requests of a subject, and delays neither
 * its other hosts nor the requests of other subjects, who may have made it slow, or share it as the host of a relay.
 */
export const createSend = ({ addresses, timeoutMs }: SendOptions) => {
  const subjects = createLru<string, ReturnType<typeof createFairPlaces>>(10_000, 0, () =>
    createFairPlaces(ofSubject),
  );
  const attempt = async ({ url, event, body, secrets }: Message, aborted: AbortSignal): Promise<Sent> => {
    const sentAt = new Date();
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), aborted]);
    const ended = (result: Partial<Sent>): Sent => ({
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
      // Its status counts, whatever is wrong with the rest.
      const content = await answer.readStart(maxRead).catch(() => Buffer.alloc(0));
      const isDelivered = status >= 200 && status <= 299;
      return ended({
        status,
        error: isDelivered ? null : `The subscriber answered ${status}.`,
        answer: isDelivered ? null : keptAnswer(content, body),
        retryAfterMs: isDelivered ? undefined : retryAfterOf(answer.headers['retry-after']),
      });
    } catch (error) {
      return ended({
        error: signal.aborted ? 'The subscriber did not answer in time.' : safeErrorMessage(error),
      });
    }
  };
  /** Never rejects. Undefined: not sent, because `isOver` was true when its turn came, or `aborted` before there was an answer. */
  return async (message: Message, { isOver, aborted }: Turn): Promise<Sent | undefined> => {
    const inTurn = subjects.memo(message.subject);
    const sent = await inTurn(new URL(message.url).host, () =>
      isOver() ? undefined : attempt(message, aborted),
    );
    return sent?.error != null && aborted.aborted ? undefined : sent;
  };
};

export type Send = ReturnType<typeof createSend>;
