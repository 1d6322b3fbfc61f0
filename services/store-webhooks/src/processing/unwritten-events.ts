import { backoff } from '@platform/service-kit/backoff';
import { SafeError } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { endEvent, postponeEvents } from '../inbox/end-events.ts';
import type { ClaimedRow } from '../inbox/event.ts';

const notWritten =
  'The event was not processed or its result not written, because the database was unavailable.';

/** The connection was lost during the transaction, perhaps because of one of its events. */
export class ConnectionLost extends SafeError {
  constructor(cause?: unknown) {
    super('The connection to the database was lost while the event was processed.', { cause });
  }
}

/** Several workers crashed, or a connection was lost, while processing the event, so it is claimed and applied alone. */
export const isSuspect = ({ crashes }: ClaimedRow): boolean => crashes > 2;

/** Keeps the events of a worker that were not processed or whose results could not be written, until they are due again. */
export const createUnwrittenEvents = ({ database, env, log, tracker }: Context, maxAttempts: number) => {
  const { sql } = database;
  const unwritten: { event: ClaimedRow; error: unknown }[] = [];
  const requeueAfterLostConnection = async (
    attempt: number,
    events: readonly ClaimedRow[],
  ): Promise<void> => {
    const error = new ConnectionLost();
    const delayMs = backoff(attempt, env.RETRY_BASE_MS);
    const isLast = (event: ClaimedRow): boolean => attempt >= maxAttempts && isSuspect(event);
    const others = events.filter((event) => !isLast(event));
    await postponeEvents(sql, others, { delayMs, error: error.message, isAttempt: true, isSuspect: true });
    for (const row of events.filter(isLast)) {
      const { storeId, event, id: eventId } = row;
      tracker.capture(error, { storeId, event, eventId, attempt });
      await endEvent(sql, row, 'failed', error.message);
    }
  };
  return {
    /** Keeps events until `requeue`, with one log line for all of them. */
    keep: (events: readonly ClaimedRow[], error: unknown): void => {
      if (events.length > 0 && unwritten.length === 0)
        log.warn({ err: error }, 'events were not processed or their results not written');
      unwritten.push(...events.map((event) => ({ event, error })));
    },
    /**
     * Makes the kept events due again; returns whether there were any. After ConnectionLost the attempt counts and a pause
     * follows, and an event that was alone in its last attempt fails.
     */
    requeue: async (): Promise<boolean> => {
      const batch = unwritten.slice();
      const groups = Map.groupBy(batch, ({ event, error }) =>
        error instanceof ConnectionLost ? event.attempts : undefined,
      );
      for (const [attempt, group] of groups) {
        const events = group.map(({ event }) => event);
        if (attempt !== undefined) await requeueAfterLostConnection(attempt, events);
        else await postponeEvents(sql, events, { delayMs: 0, error: notWritten, isAttempt: false });
      }
      unwritten.splice(0, batch.length);
      return batch.length > 0;
    },
  };
};
