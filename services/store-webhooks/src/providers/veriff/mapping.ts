import type { z } from 'zod';
import type { VerificationRecord } from '../records.ts';
import type { decision, progress } from './schema.ts';

/** https://devdocs.veriff.com/docs/verification-session-status-codes */
const statuses: Readonly<Record<number, string>> = {
  9001: 'approved',
  9102: 'declined',
  9103: 'resubmission_requested',
  9104: 'expired',
  9121: 'abandoned',
};

export const fromDecision = ({ verification }: z.output<typeof decision>): VerificationRecord => ({
  transactionId: verification.id,
  status: statuses[verification.code] ?? verification.status ?? String(verification.code),
  userId: verification.vendorData,
  version: verification.decisionTime === null ? null : Date.parse(verification.decisionTime),
});

/** Before the first decision; it carries no time, so the order of receipt decides. */
export const fromProgress = ({ id, action, vendorData }: z.output<typeof progress>): VerificationRecord => ({
  transactionId: id,
  status: action,
  userId: vendorData,
  version: null,
});
