import { createHmac } from 'node:crypto';
import type { BaseContext } from '@platform/service-kit/context';
import { createLru } from '@platform/service-kit/lru';
import { createTally } from '@platform/service-kit/tally';
import type { Message, Outcome, SendOptions } from './attempt.ts';
import { createRequestThread } from './request-thread.ts';

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

/** When a message may no longer be sent, and when a running request is aborted. */
export interface Turn {
  isOver(): boolean;
  aborted: AbortSignal;
}

/** Maximum number of subjects of which something is remembered. */
const maxSubjects = 10_000;
/** Maximum concurrent requests of a subject; half of them to one host. */
const maxPerSubject = 64;
/** A subject is costly for this time after its last costly answer. */
const costlyMs = 3_600_000;

/**
 * Creates a function that sends a message. A slow host gets a bounded number of requests of each subject, so it delays neither
 * the other hosts of a subject nor other subjects, which may use the same host (a relay). Subjects with costly answers share a
 * thread of their own, so that they delay only each other.
 */
export const createSend = (
  options: SendOptions,
  { log, resources }: Pick<BaseContext, 'log' | 'resources'>,
) => {
  const subjects = createLru<string, ReturnType<typeof createFairPlaces>>(maxSubjects, 0, () =>
    createFairPlaces(maxPerSubject),
  );
  const costlySubjects = createLru<string, true>(maxSubjects, costlyMs);
  const thread = resources.use(createRequestThread(options, log));
  const threadOfCostly = resources.use(createRequestThread(options, log));
  const attempt = async (message: Message, aborted: AbortSignal): Promise<Outcome> => {
    const { subject } = message;
    const subjectThread = costlySubjects.has(subject) ? threadOfCostly : thread;
    const { isCostly, ...outcome } = await subjectThread.attempt(message, aborted);
    if (isCostly) costlySubjects.set(subject, true);
    return outcome;
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
