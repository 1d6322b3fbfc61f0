import { Conflict, toProblem } from '@platform/service-kit/problem';
import type { AnyAnswer } from '@platform/service-kit/route';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { finalState, Ignored, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { resultIn } from '../providers/emv.ts';
import { isForm, readable } from '../providers/payload-parsing.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { endEvent } from '../inbox/end-events.ts';
import type { PlannedEvent, StoreResult } from '../inbox/event.ts';
import type { EventToStore } from '../inbox/inbox.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { isPaused, storePaused, threeDSOf } from '../stores/known-store.ts';
import { findStoreToChange } from '../stores/use-cases.ts';
import { readChallenge, type Challenge } from './challenge-payload.ts';
import {
  challengeKey,
  choosePayment,
  failure,
  keepOutcomeMs,
  outcomeOf,
  redirectTarget,
  type KnownChallenge,
  type Outcome,
  type Payment,
  type PaymentKey,
} from './domain.ts';
import {
  addPayment,
  assignChallenge,
  deleteOutcomes,
  findPayments,
  findResult,
  keepResult,
} from './queries.ts';

/**
 * Registers the order that a transaction pays, and optionally the only challenge that counts for it. Repeating a registration
 * changes nothing. Throws Conflict for another order or challenge, and for a challenge that belongs to another payment.
 */
export const registerPayment = async (context: Context, payment: Payment): Promise<Payment> => {
  await findStoreToChange(context.database.orm, payment.storeId, false);
  return context.database.orm.transaction(async (tx) => {
    const stored = await addPayment(tx, payment);
    const [registered, requested] = [stored.threeDSServerTransId, payment.threeDSServerTransId];
    if (stored.orderId !== payment.orderId)
      throw new Conflict('payment_exists', 'The transaction is registered for another order.');
    if (requested === null) return stored;
    if (registered === null || challengeKey(registered) !== challengeKey(requested))
      throw new Conflict(
        'payment_exists',
        'The transaction is registered with another challenge or without one; register a new transaction.',
      );
    if (
      !(await assignChallenge(tx, stored, { threeDSServerTransId: requested, outcomeAt: stored.createdAt }))
    )
      throw new Conflict('challenge_taken', 'The threeDSServerTransId belongs to another payment.');
    return stored;
  });
};

/** The result of a payment event. Without an outcome the response is `{}`. */
export interface Settled {
  outcome?: Outcome;
  /** Why the event is not done. */
  error?: unknown;
  /** The provider was asked for this event and returned the result. */
  isNew?: true;
  /** The payment has no result yet, and this event is the one that is retried. */
  isRetried?: true;
  /** The database is unavailable, so it is unknown whether the payment has other events. */
  isUndecided?: true;
}

/** The context that the sealed outcomes of a payment are bound to. */
export const outcomeContext = ({ storeId, service, transactionId }: PaymentKey): string =>
  `payments/${storeId}/${service}/${transactionId}`;

const storedOutcome = (
  { box, now }: Context,
  payment: PaymentKey,
  challenge?: KnownChallenge,
): Outcome | undefined => {
  if (challenge === undefined || challenge.outcome === null) return undefined;
  if (now().getTime() - new Date(challenge.outcomeAt).getTime() > keepOutcomeMs) return undefined;
  const outcome = box.open(challenge.outcome, outcomeContext(payment));
  // Undefined if no key of SECRETS_KEY decrypts it; then the provider is asked again.
  return outcome === undefined ? undefined : (JSON.parse(outcome) as Outcome);
};

/** The CAVV of a payment that succeeded, while it is kept; else null. */
export const cavvOf = async (context: Context, payment: PaymentKey): Promise<string | null> => {
  const outcome = storedOutcome(context, payment, await findResult(context.database.orm, payment));
  return outcome?.success === true ? outcome.cavv : null;
};

/** Counts the mismatch for the alert: somebody may try to pay with a challenge of another payment. */
const mismatch = ({ challengeMismatches }: Context): Settled => {
  challengeMismatches.inc();
  return {
    outcome: failure('unknown'),
    error: new Unprocessable('The challenge belongs to another payment.'),
  };
};

const unavailable = (error: unknown): Settled => ({ outcome: failure('unavailable'), error });

/** Stores the outcome of a challenge (`id`). Returns false if the challenge belongs to another payment. */
export const keepOutcome = (
  { box, database, now }: Context,
  payment: Payment,
  id: string,
  outcome: Outcome,
): Promise<boolean> =>
  keepResult(database.orm, payment, {
    threeDSServerTransId: id,
    outcome: box.seal(JSON.stringify(outcome), outcomeContext(payment)),
    outcomeAt: now().toISOString(),
    status: outcome.success ? 'succeeded' : 'failed',
    eci: outcome.success ? outcome.eci : null,
  });

const requestOutcome = async (
  context: Context,
  store: KnownStore,
  payment: Payment,
  id: string,
): Promise<Settled> => {
  const { readerOf, paymentLimit } = context;
  const { adapter, ...provider } = threeDSOf(store, payment.service);
  const answer = await paymentLimit.run(payment, () =>
    adapter.requestResult(id, { ...provider, reader: readerOf(store.id) }),
  );
  const outcome = outcomeOf(resultIn(answer, id));
  if (outcome === undefined)
    return {
      outcome: failure('pending'),
      error: new ProviderUnavailable(payment.service, 'has no final result yet'),
    };
  return (await keepOutcome(context, payment, id, outcome)) ? { outcome, isNew: true } : mismatch(context);
};

/** Reads the challenge in an event. Not async, so that the parsed body is not kept while the provider is asked. */
const challengeOf = ({
  service,
  body,
  headers,
}: Pick<PlannedEvent, 'service' | 'body' | 'headers'>): Challenge => {
  const contentType = headers['content-type'];
  return readChallenge(readable(body, contentType), service, isForm(contentType));
};

/**
 * Settles a 3DS challenge: parse → find the payment → stored outcome, else ask the provider. The challenge result comes through
 * the browser, so its transStatus is never used. If a payment has several events without a result, only one is retried.
 * `event.id` is undefined for an event that is not stored.
 */
export const settlePayment = async (
  context: Context,
  event: Pick<PlannedEvent, 'store' | 'service' | 'body' | 'headers'> & { id: string | undefined },
): Promise<Settled> => {
  const { store } = event;
  const challenge = challengeOf(event);
  const { service, serverTransactionId: id, transactionIds } = challenge;
  if (service === undefined) return { error: new Unprocessable('The payload does not name its service.') };
  if (isPaused(store)) return { outcome: failure('unavailable'), error: new Ignored(storePaused) };
  if (!threeDSAdapters.has(service))
    return { outcome: failure('unknown'), error: new Ignored('The service is not known.') };
  if (event.service !== null && event.service !== service)
    context.log.warn(
      { storeId: store.id, path: event.service, service },
      'path and body name different services',
    );
  if (id === undefined)
    return {
      outcome: failure('unreadable'),
      error: new Unprocessable('The challenge result is unreadable.'),
    };

  const candidates = await findPayments(context.database.orm, store.id, service, transactionIds, id);
  const {
    payment,
    challenge: knownChallenge,
    isForeign,
  } = choosePayment(candidates, store.id, transactionIds, id);
  if (isForeign) return mismatch(context);
  if (payment === undefined) return { error: new Unprocessable('There is no order for the transaction.') };
  const outcome = storedOutcome(context, payment, knownChallenge);
  if (outcome !== undefined) return { outcome };
  const result = await requestOutcome(context, store, payment, id).catch(unavailable);
  const isOpen = result.error !== undefined && finalState(result.error) === undefined;
  if (event.id === undefined) return result;
  if (!isOpen) {
    context.paymentLimit.forget(payment, event.id);
    return result;
  }
  if (context.paymentLimit.isRetried(payment, event.id)) return { ...result, isRetried: true };
  return { ...result, error: new Ignored('Another event of this payment is retried until it has a result.') };
};

const redirect = (status: number, storeUrl: string, outcome: Outcome): AnyAnswer => ({
  status,
  headers: {
    Location: redirectTarget(storeUrl, outcome),
    // The URL contains the CAVV. Every response also has Referrer-Policy: no-referrer.
    'Cache-Control': 'no-store',
  },
});

/**
 * Answers a browser that returns from a 3DS challenge: `redirect` is undefined if no payment is known for the challenge. The
 * event was stored before, with the result `stored`; `network` is that of the browser. The other fields are those of `Settled`.
 */
export const answerPayment = async (
  context: Context,
  { event, store }: EventToStore,
  stored: StoreResult | 'spooled' | 'unstored',
  network: string,
): Promise<{ redirect: AnyAnswer | undefined } & Pick<Settled, 'isNew' | 'isRetried' | 'isUndecided'>> => {
  const { env, tracker, log, database } = context;
  const id = stored === 'duplicate' ? undefined : event.id;
  // The customer waits for the response, so after any error the browser must still get back to the shop.
  const settle = () => settlePayment(context, { ...event, id, store });
  const settling = context.reading([`payments from ${network}`, store.id], settle);
  const settled = await settling.catch((error: unknown): Settled => ({
    ...unavailable(error),
    // A hanging database gives no error, but then the spool is active.
    ...((context.inbox.spool.active || toProblem(error).code === 'database_unavailable') && {
      isUndecided: true,
    }),
  }));
  const { outcome, error } = settled;
  const state = error === undefined ? 'done' : finalState(error);
  // Anybody who has the payments token can repeat an event, so only its first failure is reported.
  if (error !== undefined && state !== 'ignored' && stored !== 'duplicate' && stored !== 'unstored')
    tracker.capture(error, { storeId: store.id, event: event.event, eventId: event.id });
  if (stored === 'stored' && state !== undefined)
    // No worker has claimed the event yet, because its hold time is longer than this takes.
    await endEvent(
      database.sql,
      { ...event, entity: event.entity ?? event.id, attempts: 0, worker: null },
      state,
      error === undefined ? null : safeErrorMessage(error),
    ).catch((err: unknown) => log.warn({ err }, 'a payment event was answered but not marked as finished'));
  return { ...settled, redirect: outcome && redirect(env.REDIRECT_STATUS, store.storeUrl, outcome) };
};

/** Deletes expired outcomes. Returns whether there may be more. */
export const deleteExpiredOutcomes = ({ database, now }: Context): Promise<boolean> =>
  deleteOutcomes(database.orm, new Date(now().getTime() - keepOutcomeMs));
