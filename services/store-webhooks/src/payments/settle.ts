import type { Context } from '../context.ts';
import { isForm, readable } from '../hooks/body.ts';
import { ProviderUnavailable } from '../providers/exchange.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { credentialsOf } from '../stores/credentials.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { Ignored, Unprocessable } from '../worker/unprocessable.ts';
import { readChallenge } from './challenge.ts';
import {
  choosePayment,
  failure,
  keepOutcomeMs,
  outcomeOf,
  type Outcome,
  type KnownChallenge,
  type Payment,
} from './domain.ts';
import { assignChallenge, findPayments } from './queries.ts';

export interface PaymentEvent {
  store: KnownStore;
  /** In the path. */
  service: string | null;
  body: Buffer;
  contentType: string | undefined;
}

/** The result of a payment event. Without an outcome the answer is `{}`; `error`: why the event is not done. */
export interface Settled {
  outcome?: Outcome;
  error?: Error;
}

/** The context that the sealed outcomes of a payment are bound to. */
export const outcomeContext = ({
  storeId,
  service,
  transactionId,
}: Pick<Payment, 'storeId' | 'service' | 'transactionId'>): string =>
  `payments/${storeId}/${service}/${transactionId}`;

const storedOutcome = (
  { box, now }: Context,
  payment: Payment,
  settled?: KnownChallenge,
): Outcome | undefined => {
  if (settled === undefined || settled.outcome === null) return undefined;
  if (now().getTime() - new Date(settled.outcomeAt).getTime() > keepOutcomeMs) return undefined;
  try {
    return JSON.parse(box.open(settled.outcome, outcomeContext(payment))) as Outcome;
  } catch {
    // No key of SECRETS_KEY decrypts it, so the provider is asked again.
    return undefined;
  }
};

/** Counts the mismatch for the alert: somebody may try to pay with a challenge of another payment. */
const mismatch = ({ challengeMismatches }: Context): Settled => {
  challengeMismatches.inc();
  return {
    outcome: failure('unknown'),
    error: new Unprocessable('The challenge belongs to another payment.'),
  };
};

const ask = async (context: Context, store: KnownStore, payment: Payment, id: string): Promise<Settled> => {
  const { box, database, now, reader } = context;
  const settings = store.settings.payments.find(({ kind }) => kind === payment.service);
  const adapter = threeDSAdapters.get(payment.service);
  if (settings === undefined || adapter === undefined)
    throw new Unprocessable('The store has no such 3DS provider.');
  const credentials = credentialsOf(store)[`payments.${payment.service}`] ?? {};
  const outcome = outcomeOf(await adapter.result(id, { settings, credentials, reader }));
  if (outcome === undefined)
    return {
      outcome: failure('pending'),
      error: new ProviderUnavailable(payment.service, 'has no final result yet'),
    };
  const sealed = box.seal(JSON.stringify(outcome), outcomeContext(payment));
  const isOurs = await assignChallenge(database.orm, payment, {
    threeDSServerTransId: id,
    outcome: sealed,
    outcomeAt: now().toISOString(),
  });
  return isOurs ? { outcome } : mismatch(context);
};

/**
 * Settles a 3DS challenge: parse → find the payment → stored outcome, else ask the provider. The challenge
 * result comes through the browser, so its transStatus is never used. Rejects if the provider returns no result.
 */
export const settlePayment = async (context: Context, event: PaymentEvent): Promise<Settled> => {
  const { store, contentType } = event;
  const challenge = readChallenge(readable(event.body, contentType), event.service, isForm(contentType));
  const { service, serverTransactionId: id, transactionIds } = challenge;
  if (service === undefined) return { error: new Unprocessable('The payload does not name its service.') };
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
  return outcome === undefined ? ask(context, store, own, id) : { outcome };
};
