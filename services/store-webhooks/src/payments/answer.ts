import type { Log } from '@platform/service-kit/log';
import type { HookAnswer } from '../hooks/answer.ts';
import { taken } from '../hooks/answer.ts';
import type { Challenge } from '../hooks/receive.ts';
import { Failure, tellableError } from '../tracker/failure.ts';
import type { ErrorTracker } from '../tracker/tracker.ts';
import { failure, redirectTarget, type Outcome } from './domain.ts';
import { end } from '../worker/claim.ts';
import { settlePayment, type Settled, type Settling } from './settle.ts';

const redirect = (status: number, storeUrl: string, outcome: Outcome): HookAnswer => ({
  status,
  headers: {
    Location: redirectTarget(storeUrl, outcome),
    // The address holds the CAVV, so it must reach neither a cache nor the Referer of the next request.
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  },
});

export interface Answering extends Settling {
  tracker: ErrorTracker;
  redirectStatus: number;
  log: Log;
}

/** Answers the browser that returns from a 3DS challenge. */
export const answerPayment = async (answering: Answering, challenge: Challenge): Promise<HookAnswer> => {
  const { store, receipt, stored } = challenge;
  const { service, body, headers } = receipt;
  let settled: Settled;
  try {
    settled = await settlePayment(answering, { store, service, body, contentType: headers['content-type'] });
  } catch (error) {
    // A customer is waiting, so any failure leads to the shop's page.
    answering.tracker.capture(error, { storeId: store.id, event: receipt.event, eventId: receipt.id });
    settled = { outcome: failure('unavailable'), state: 'again' };
  }
  const { outcome, state, error } = settled;
  if (state === 'failed')
    answering.tracker.capture(new Failure(error ?? 'failed'), {
      storeId: store.id,
      event: receipt.event,
      eventId: receipt.id,
    });
  if (stored === 'stored' && state !== 'again')
    // The event is held back from the workers for longer than this takes.
    await end(answering.sql, { ...receipt, attempts: 0 }, state, error ?? null).catch((err: unknown) =>
      answering.log.warn({ err: tellableError(err) }, 'a payment event was answered but not marked'),
    );
  return outcome === undefined ? taken : redirect(answering.redirectStatus, store.storeUrl, outcome);
};
