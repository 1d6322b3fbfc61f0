import { Conflict, toProblem } from '@platform/service-kit/problem';
import type { AnyAnswer } from '@platform/service-kit/route';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { finalState, Ignored, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { resultIn } from '../providers/emv.ts';
import { isForm, readable } from '../providers/payload-parsing.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { endEvent } from '../inbox/end-events.ts';
import type { PlannedEvent, Stored } from '../inbox/event.ts';
import type { EventToStore } from '../inbox/inbox.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { isPaused, storePaused, threeDSOf } from '../stores/known-store.ts';
import { findStoreToChange } from '../stores/use-cases.ts';
import { readChallenge, type Challenge } from './challenge.ts';
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
 * Registers the order that a transaction pays, and the challenge that alone counts for it if one is named. Repeating it
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

/** The result of a payment event. Without an outcome the answer is `{}`. */
export interface Settled {
  outcome?: Outcome;
  /** Why the event is not done. */
  error?: unknown;
  /** The provider was asked for this event, and had the result. */
  isNew?: true;
  /** The payment has no result yet, and of its events this one is retried. */
  isRetried?: true;
  /** The database is away, so that nothing tells whether the event is the only one of its payment. */
  isUndecided?: true;
}

/** The context that the sealed outcomes of a payment are bound to. */
export const outcomeContext = ({ storeId, service, transactionId }: PaymentKey): string =>
  `payments/${storeId}/${service}/${transactionId}`;

const storedOutcome = (
  { box, now }: Context,
  payment: PaymentKey,
  settled?: KnownChallenge,
): Outcome | undefined => {
  if (settled === undefined || settled.outcome === null) return undefined;
  if (now().getTime() - new Date(settled.outcomeAt).getTime() > keepOutcomeMs) return undefined;
  const outcome = box.open(settled.outcome, outcomeContext(payment));
  // If no key of SECRETS_KEY decrypts it, the provider is asked again.
  return outcome === undefined ? undefined : (JSON.parse(outcome) as Outcome);
};

/** The CAVV of a payment that succeeded, as long as it is kept; else null. */
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

/** Keeps the outcome of a challenge (`id`). False when the challenge belongs to another payment. */
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

const ask = async (context: Context, store: KnownStore, payment: Payment, id: string): Promise<Settled> => {
  const { readerOf, paymentLimit } = context;
  const { adapter, ...provider } = threeDSOf(store, payment.service);
  const answer = await paymentLimit.run(payment, () =>
    adapter.ask(id, { ...provider, reader: readerOf(store.id) }),
  );
  const outcome = outcomeOf(resultIn(answer, id));
  if (outcome === undefined)
    return {
      outcome: failure('pending'),
      error: new ProviderUnavailable(payment.service, 'has no final result yet'),
    };
  return (await keepOutcome(context, payment, id, outcome)) ? { outcome, isNew: true } : mismatch(context);
};

/** Not async, so that the parsed body does not wait for the provider. */
const challengeOf = ({
  service,
  body,
  headers,
}: Pick<PlannedEvent, 'service' | 'body' | 'headers'>): Challenge => {
  const contentType = headers['content-type'];
  return readChallenge(readable(body, contentType), service, isForm(contentType));
};

/**
 * Settles a 3DS challenge: parse → find the payment → stored outcome, else ask the provider. The challenge
 * result comes through the browser, so its transStatus is never used. Of the events of a payment that find no result, only
 * one is retried. `event.id` is undefined for an event that is not stored.
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
    context.log.warn({ storeId: store.id, path: event.service, service }, 'path and body name two services');
  if (id === undefined)
    return {
      outcome: failure('unreadable'),
      error: new Unprocessable('The challenge result is unreadable.'),
    };

  const known = await findPayments(context.database.orm, service, transactionIds, id);
  const { own, settled, foreign } = choosePayment(known, store.id, transactionIds, id);
  if (foreign) return mismatch(context);
  if (own === undefined) return { error: new Unprocessable('There is no order for the transaction.') };
  const outcome = storedOutcome(context, own, settled);
  if (outcome !== undefined) return { outcome };
  const asked = await ask(context, store, own, id).catch(unavailable);
  const isOpen = asked.error !== undefined && finalState(asked.error) === undefined;
  if (event.id === undefined) return asked;
  if (!isOpen) {
    context.paymentLimit.forget(own, event.id);
    return asked;
  }
  if (context.paymentLimit.isRetried(own, event.id)) return { ...asked, isRetried: true };
  return { ...asked, error: new Ignored('Another event of this payment is retried until it has a result.') };
};

const redirect = (status: number, storeUrl: string, outcome: Outcome): AnyAnswer => ({
  status,
  headers: {
    Location: redirectTarget(storeUrl, outcome),
    // The address contains the CAVV. Referrer-Policy: no-referrer is set for every answer.
    'Cache-Control': 'no-store',
  },
});

/**
 * The redirect of a browser that comes back from a 3DS challenge and waits for it; undefined if no payment is known for
 * it. The event was stored before, with the result `stored`. The other fields are those of `Settled`.
 */
export const answerPayment = async (
  context: Context,
  { event, store }: EventToStore,
  stored: Stored | 'spooled' | 'unstored',
): Promise<{ redirect: AnyAnswer | undefined } & Pick<Settled, 'isNew' | 'isRetried' | 'isUndecided'>> => {
  const { env, tracker, log, database } = context;
  const id = stored === 'duplicate' ? undefined : event.id;
  // The customer waits in front of a browser, so any fault must still lead to the page of the shop.
  const settled = await settlePayment(context, { ...event, id, store }).catch((error: unknown): Settled => ({
    ...unavailable(error),
    // A database that hangs answers nothing, and is known by the spool.
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
    // No worker has claimed the event yet: it is held back for longer than this takes.
    await endEvent(
      database.sql,
      { ...event, entity: event.entity ?? event.id, attempts: 0, worker: null },
      state,
      error === undefined ? null : safeErrorMessage(error),
    ).catch((err: unknown) => log.warn({ err }, 'a payment event was answered but not marked as finished'));
  return { ...settled, redirect: outcome && redirect(env.REDIRECT_STATUS, store.storeUrl, outcome) };
};

/** Deletes the outcomes that were kept for long enough. */
export const forgetOutcomes = ({ database, now }: Context): Promise<void> =>
  deleteOutcomes(database.orm, new Date(now().getTime() - keepOutcomeMs));
