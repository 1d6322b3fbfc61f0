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
    // The address carries the CAVV: neither a cache nor the next page may learn it.
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  },
});

export interface Answering extends Settling {
  tracker: ErrorTracker;
  redirectStatus: number;
  log: Log;
}

/** Answers the browser that comes back from a 3DS challenge. */
export const answerPayment = async (answering: Answering, challenge: Challenge): Promise<HookAnswer> => {
  const { store, receipt, stored } = challenge;
  const { service, body, headers } = receipt;
  let settled: Settled;
  try {
    settled = await settlePayment(answering, { store, service, body, contentType: headers['content-type'] });
  } catch (error) {
    // The customer stands in front of a browser: whatever it is, the shop's page has to say so.
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
    // No worker has claimed it yet: it is held back for longer than this takes.
    await end(answering.sql, { ...receipt, attempts: 0 }, state, error ?? null).catch((err: unknown) =>
      answering.log.warn({ err: tellableError(err) }, 'a payment event was answered but not marked'),
    );
  return outcome === undefined ? taken : redirect(answering.redirectStatus, store.storeUrl, outcome);
};
