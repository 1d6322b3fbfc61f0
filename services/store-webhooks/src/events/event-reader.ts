import type { Caller } from '@platform/auth/bearer';
import type { Executor } from '@platform/service-kit/db';
import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import { findEvent, type EventRow } from '../inbox/find-events.ts';

/** What a caller may read in a minute, in KiB of bodies. Reading this much takes a few seconds of the process. */
const kibPerMinute = 32 * 1024;
/** What an event that a search found counts as, in KiB: a record of that is kept for long. */
const kibPerRecord = 32;

export type EventReader = ReturnType<typeof createEventReader>;

/**
 * Creates the reader of whole events for callers. To show an event or to process it again, the service parses its body; a caller
 * who requests many large ones would delay the webhooks of all stores. So it limits what a caller reads in a minute.
 */
export const createEventReader = (db: Executor, redis: RateCounterOptions['redis']) => {
  const counter = createBatchedRateCounter({
    redis,
    prefix: 'store-webhooks:event-kib',
    points: kibPerMinute,
    seconds: 60,
  });
  return {
    /**
     * Call this once per request, before it reads events: a long request that is refused half-way would not get further when
     * repeated. Throws TooManyRequests if the caller has read too much in this minute.
     */
    requireAllowance: async ({ subject }: Caller): Promise<void> => {
      const { consumedPoints, msBeforeNext } = await counter.take(subject);
      if (consumedPoints > kibPerMinute)
        throw new TooManyRequests(msBeforeNext / 1000, 'You have read too much of events in this minute.');
    },
    /** Whether the caller may read further events in this minute. */
    hasAllowance: ({ subject }: Caller): boolean => counter.exceeded(subject) === undefined,
    /** An event with its body and state, which counts for the caller. Throws NotFound. */
    read: async ({ subject }: Caller, storeId: string, id: string): Promise<EventRow> => {
      const event = await findEvent(db, storeId, id);
      counter.add(subject, Math.floor(event.body.length / 1024));
      return event;
    },
    /** Counts the events that a search has found. */
    countFound: ({ subject }: Caller, events: number): void =>
      void counter.add(subject, events * kibPerRecord),
  };
};
