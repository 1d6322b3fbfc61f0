import { backoff } from '@platform/service-kit/backoff';
import { SafeError } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { endEvent, postponeEvents } from '../inbox/end-events.ts';
import type { ClaimedRow } from '../inbox/event.ts';

const notWritten =
  'The event was not processed or its result not written, because the database was unavailable.';

/** The connection was lost after the transaction had begun, perhaps because of one of its events. */
export class ConnectionLost extends SafeError {
  constructor(cause?: unknown) {
    super('The connection to the database was lost while the event was processed.', { cause });
  }
}

/** Workers died with the event, or a connection was lost with it, so it is claimed and applied alone. */
export const isSuspect = ({ crashes }: ClaimedRow): boolean => crashes > 2;

/** The events of a worker that were not processed, or whose results could not be written. */
export const createUnwritten = ({ database, env, log, tracker }: Context, maxAttempts: number) => {
  const { sql } = database;
  const kept: { event: ClaimedRow; error: unknown }[] = [];
  const giveBackLost = async (attempt: number, events: readonly ClaimedRow[]): Promise<void> => {
    const error = new ConnectionLost();
    const delayMs = backoff(attempt, env.RETRY_BASE_MS);
    const isLast = (event: ClaimedRow): boolean => attempt >= maxAttempts && isSuspect(event);
    const others = events.filter((event) => !isLast(event));
    await postponeEvents(sql, others, { delayMs, error: error.message, counts: true, isSuspect: true });
    for (const row of events.filter(isLast)) {
      const { storeId, event, id: eventId } = row;
      tracker.capture(error, { storeId, event, eventId, attempt });
      await endEvent(sql, row, 'failed', error.message);
    }
  };
  return {
    /** Keeps events until `giveBack`, with one line in the log for all of them. */
    keep: (events: readonly ClaimedRow[], error: unknown): void => {
      if (events.length > 0 && kept.length === 0)
        log.warn({ err: error }, 'events were not processed or their results not written');
      kept.push(...events.map((event) => ({ event, error })));
    },
    /**
     * Makes them due again; returns whether there were any. With ConnectionLost the attempt counts and a pause follows, and
     * an event that was alone in the last attempt has failed.
     */
    giveBack: async (): Promise<boolean> => {
      const again = kept.slice();
      const groups = Map.groupBy(again, ({ event, error }) =>
        error instanceof ConnectionLost ? event.attempts : undefined,
      );
      for (const [attempt, group] of groups) {
        const events = group.map(({ event }) => event);
        if (attempt !== undefined) await giveBackLost(attempt, events);
        else await postponeEvents(sql, events, { delayMs: 0, error: notWritten, counts: false });
      }
      kept.splice(0, again.length);
      return again.length > 0;
    },
  };
};
