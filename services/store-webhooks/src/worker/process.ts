import { createBatcher } from '@platform/service-kit/batcher';
import { inSpan } from '@platform/tracing/trace';
import type { Context } from '../context.ts';
import { ProviderBusy } from '../providers/exchange.ts';
import { findStores } from '../stores/store.ts';
import { safeErrorMessage, safeError } from '../tracker/failure.ts';
import { applyChanges } from './apply.ts';
import { attemptsWithin, backoff, maxCrashes } from './backoff.ts';
import type { Sourced } from './change.ts';
import { claim, end, finish, postpone, renew } from './claim.ts';
import type { ClaimedEvent, InboxEvent } from './event.ts';
import { plan } from './plan.ts';
import { finalState, Unprocessable } from './unprocessable.ts';

interface Planned {
  event: InboxEvent;
  change: Sourced;
}

export interface Processing {
  /** Claims events while there is capacity and starts processing them; returns whether there were any. */
  round(): Promise<boolean>;
  /** Extends the leases of events that take long; call it `renewals` times for each length of a lease. */
  renew(): Promise<void>;
  /** Resolves when no event is being processed. */
  idle(): Promise<void>;
}

/** Maximum number of events in processing, including those that wait for a provider. */
const maxUnderWay = 256;
const maxClaim = 64;
/** A lease is renewed this often before it expires. */
export const renewals = 4;

/** Claims events, plans each one separately, then applies them together and marks them in the same transaction. */
export const createProcessing = (context: Context): Processing => {
  const { database, env, tracker, log, openStore } = context;
  const { sql } = database;
  const mails = env.SMTP_URL !== undefined;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  const underWay = new Map<Promise<void>, { event: InboxEvent; since: number }>();

  const applyAll = async (planned: readonly Planned[]): Promise<void> => {
    await sql.begin(async (tx) => {
      const held = await finish(
        tx,
        planned.map(({ event }) => event),
      );
      const changes = planned.filter(({ event }) => held.has(event.id)).map(({ change }) => change);
      await applyChanges(tx, changes, mails);
    });
  };
  const batches = createBatcher<Planned, void>({
    flush: async (planned) => {
      await applyAll(planned);
      return planned.map(() => undefined);
    },
    maxBatch: maxClaim,
    maxQueue: maxUnderWay,
    maxInFlight: 2,
    // Applying an event twice changes nothing, and one failing event must not fail the rest of its batch.
    isRolledBack: () => true,
  });

  const failed = async (event: InboxEvent, error: unknown): Promise<void> => {
    const where = { storeId: event.storeId, event: event.event, eventId: event.id, attempt: event.attempts };
    const state = finalState(error);
    if (state === 'ignored') return end(sql, event, state, safeErrorMessage(error));
    // The provider was not asked, so this is no attempt.
    if (error instanceof ProviderBusy)
      return postpone(sql, event, { delayMs: error.waitMs, error: safeErrorMessage(error), counts: false });
    tracker.capture(error, where);
    if (state === 'failed' || event.attempts >= maxAttempts)
      return end(sql, event, 'failed', safeErrorMessage(error));
    const delayMs = backoff(event.attempts, env.RETRY_BASE_MS);
    return postpone(sql, event, { delayMs, error: safeErrorMessage(error), counts: true });
  };

  const one = async (claimed: ClaimedEvent): Promise<void> => {
    const { storeId, id: eventId, receivedAt } = claimed;
    try {
      // Processing this event may be what crashed the earlier workers, also after an attempt that ended with an error.
      const crashes = claimed.error === null ? claimed.attempts : claimed.attempts - maxAttempts;
      if (crashes > maxCrashes) throw new Unprocessable('It was begun ten times and never ended.');
      const change = await plan(context, claimed);
      await batches.add({ event: claimed, change: { storeId, eventId, receivedAt, change } });
    } catch (error) {
      // If this cannot be written either, the lease expires and the event is claimed again.
      await failed(claimed, error).catch((err: unknown) =>
        log.warn({ err: safeError(err), eventId }, 'left to its lease'),
      );
    }
  };

  const withStores = async (events: readonly InboxEvent[]): Promise<ClaimedEvent[]> => {
    const rows = await findStores(database.orm, [...new Set(events.map(({ storeId }) => storeId))]);
    const stores = new Map(rows.map((row) => [row.id, openStore(row)]));
    return events.flatMap((event) => {
      const store = stores.get(event.storeId);
      return store === undefined ? [] : [{ ...event, store }];
    });
  };

  const begin = (claimed: ClaimedEvent): void => {
    const work = inSpan(`process ${claimed.event}`, () => one(claimed)).finally(() => {
      underWay.delete(work);
      // There is capacity again, and the next event of this entity may be claimed.
      context.onWork.wake();
    });
    underWay.set(work, { event: claimed, since: performance.now() });
  };

  return {
    round: async () => {
      const room = Math.min(maxUnderWay - underWay.size, maxClaim);
      if (room <= 0) return false;
      const events = await claim(sql, room, env.LEASE_MS);
      if (events.length === 0) return false;
      for (const claimed of await withStores(events)) begin(claimed);
      return true;
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay.keys());
    },
    renew: async () => {
      const before = performance.now() - env.LEASE_MS / renewals;
      const slow = [...underWay.values()].filter(({ since }) => since < before);
      if (slow.length > 0)
        await renew(
          sql,
          slow.map(({ event }) => event),
          env.LEASE_MS,
        );
    },
  };
};
