import { z } from 'zod';
import type { VerificationRecord } from '../pos-payloads.ts';
import { undecided } from '../records.ts';
import { identifier, isoTime, orNull, storableText } from '../payload-parsing.ts';

const user = { vendorData: orNull(identifier()), endUserId: orNull(identifier()) };

/**
 * Statuses for a decision without `status`, which is more exact: 9104 is the code of both expired and abandoned.
 * https://devdocs.veriff.com/docs/verification-session-status-codes-table
 */
const statuses: Readonly<Record<number, string>> = {
  9001: 'approved',
  9102: 'declined',
  9103: 'resubmission_requested',
  9104: 'expired',
  9121: 'review',
};

/** https://devdocs.veriff.com/docs/decision-webhook */
export const decision = z
  .object({
    verification: z.object({
      id: identifier(),
      code: z.int(),
      status: orNull(storableText(100)),
      decisionTime: orNull(isoTime()),
      ...user,
    }),
  })
  .transform(({ verification: { id, code, status, decisionTime, ...userIds } }): VerificationRecord => ({
    transactionId: id,
    status: status ?? statuses[code] ?? String(code),
    userId: userIds.vendorData ?? userIds.endUserId,
    version: decisionTime,
  }))
  .meta({ id: 'VeriffDecision', description: 'The decision webhook of Veriff' });

/** Sent when the person has started or submitted the verification; contains no time. https://devdocs.veriff.com/docs/event-webhook */
export const progress = z
  .object({ id: identifier(), code: z.int(), action: storableText(100), ...user })
  .transform(({ id, action, vendorData, endUserId }): VerificationRecord => ({
    transactionId: id,
    status: action,
    userId: vendorData ?? endUserId,
    version: undecided,
  }))
  .meta({ id: 'VeriffEvent', description: 'The event webhook of Veriff' });

/** https://devdocs.veriff.com/docs/full-auto-webhook */
export const fullAuto = z
  .object({
    eventType: z.literal('fullauto'),
    status: storableText(100),
    sessionId: identifier(),
    acceptanceTime: orNull(isoTime()),
    time: orNull(isoTime()),
    data: z.object({ verification: z.object({ decision: orNull(storableText(100)) }) }),
    ...user,
  })
  .transform(
    ({ sessionId, status, time, acceptanceTime, data, vendorData, endUserId }): VerificationRecord => ({
      transactionId: sessionId,
      status: data.verification.decision ?? status,
      userId: vendorData ?? endUserId,
      version: time ?? acceptanceTime,
    }),
  )
  .meta({ id: 'VeriffFullAuto', description: 'The full auto webhook of Veriff' });
