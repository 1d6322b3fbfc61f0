import type { AnyAnswer } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { Receipt, Stored } from '../inbox/receipt.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { safeError, safeErrorMessage } from '@platform/service-kit/safe-error';
import { end } from '../worker/claim.ts';
import { finalState } from '../worker/unprocessable.ts';
import { failure, redirectTarget, type Outcome } from './domain.ts';
import { settlePayment } from './settle.ts';

const redirect = (status: number, storeUrl: string, outcome: Outcome): AnyAnswer => ({
  status,
  headers: {
    Location: redirectTarget(storeUrl, outcome),
    // The address contains the CAVV. Referrer-Policy: no-referrer is set for every answer.
    'Cache-Control': 'no-store',
  },
});

/** A stored payment event whose sender waits for the redirect. */
interface PaymentRequest {
  store: KnownStore;
  receipt: Receipt;
  stored: Stored | 'spooled';
}

/** The redirect of a browser that comes back from a 3DS challenge; undefined if no payment is known for it. */
export const answerPayment = async (
  context: Context,
  request: PaymentRequest,
): Promise<AnyAnswer | undefined> => {
  const { env, tracker, log, database } = context;
  const { store, receipt, stored } = request;
  const { service, body, headers, event, id: eventId } = receipt;
  const where = { storeId: store.id, event, eventId };
  const contentType = headers['content-type'];
  const settled = await settlePayment(context, { store, service, body, contentType })
    // The customer waits in front of a browser, so any fault must still lead to the page of the shop.
    .catch((error: unknown) => ({ outcome: failure('unavailable'), error }));
  const { outcome, error } = settled;
  const state = error === undefined ? 'done' : finalState(error);
  if (error !== undefined && state !== 'ignored') tracker.capture(error, where);
  if (stored === 'stored' && state !== undefined)
    // No worker has claimed the event yet: it is held back for longer than this takes.
    await end(
      database.sql,
      { ...receipt, entity: receipt.entity ?? eventId, attempts: 0, worker: null },
      state,
      error === undefined ? null : safeErrorMessage(error),
    ).catch((err: unknown) =>
      log.warn({ err: safeError(err) }, 'a payment event was answered but not marked as finished'),
    );
  return outcome && redirect(env.REDIRECT_STATUS, store.storeUrl, outcome);
};
