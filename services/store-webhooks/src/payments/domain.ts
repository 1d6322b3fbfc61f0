import type { AuthenticationResult } from '../providers/records.ts';

export type Outcome = { success: true; cavv: string; eci: string } | { success: false; message: string };

/** Messages for the customer on the shop's page. */
export const messages = {
  declined: 'The payment was not verified',
  pending: 'The verification is not finished',
  unavailable: 'The verification is not available at the moment',
  unreadable: 'The verification could not be read',
  unknown: 'The verification is not known',
} as const;

export const failure = (reason: keyof typeof messages): Outcome => ({
  success: false,
  message: messages[reason],
});

/**
 * The final values of transStatus (EMV 3DS, table A.1): authenticated, attempted, not authenticated,
 * could not be performed, rejected, informational only. After C (challenge required), D (decoupled
 * authentication) and S (challenge with SPC) another result follows.
 */
const final = new Set(['Y', 'A', 'N', 'U', 'R', 'I']);

/**
 * Undefined while the provider has not decided. Y and A need their cryptogram; I promises nothing about
 * the cardholder, so it is no verification.
 */
export const outcomeOf = ({ transStatus, cavv, eci }: AuthenticationResult): Outcome | undefined => {
  if (transStatus === null || !final.has(transStatus)) return undefined;
  return (transStatus === 'Y' || transStatus === 'A') && cavv
    ? { success: true, cavv, eci: eci ?? '' }
    : failure('declined');
};

/** Where the browser is sent, as ASCII. Only the store's own address decides the host and path. */
export const redirectTarget = (storeUrl: string, outcome: Outcome): string => {
  const page = `${storeUrl}${storeUrl.endsWith('/') ? '' : '/'}checkout/payment-verification`;
  const { href } = new URL(
    outcome.success
      ? `${page}/success?cavv=${encodeURIComponent(outcome.cavv)}&eci=${encodeURIComponent(outcome.eci)}`
      : `${page}/failure?msg=${encodeURIComponent(outcome.message)}`,
  );
  return href;
};

/** Outcomes are kept this long: a browser that comes back gets the same answer. */
export const keepOutcomeMs = 24 * 3_600_000;

export interface Payment {
  storeId: string;
  service: string;
  transactionId: string;
  orderId: string;
}

/** A challenge that came to a final result. */
export interface SettledChallenge {
  storeId: string;
  transactionId: string;
  threeDSServerTransId: string;
  /** Sealed; null once it was too old. */
  outcome: string | null;
  outcomeAt: string;
}

/** The payments and challenges of all stores that have one of the ids in a request. */
export interface Known {
  payments: readonly Payment[];
  challenges: readonly SettledChallenge[];
}

/**
 * The payment a challenge is for. A browser may send any ids, so a challenge is `foreign` when its server
 * id belongs to another payment, or when the ids belong to payments of other stores only. A payment may
 * have several challenges: a customer whose first one failed tries again.
 */
export const choosePayment = (
  { payments, challenges }: Known,
  storeId: string,
  transactionIds: readonly string[],
  serverTransactionId: string,
): { own?: Payment; settled?: SettledChallenge | undefined; foreign: boolean } => {
  const own = transactionIds
    .map((id) => payments.find((row) => row.storeId === storeId && row.transactionId === id))
    .find((row) => row !== undefined);
  if (own === undefined) return { foreign: payments.length + challenges.length > 0 };
  const isOwn = (row: { storeId: string; transactionId: string }) =>
    row.storeId === storeId && row.transactionId === own.transactionId;
  const same = challenges.filter((row) => row.threeDSServerTransId === serverTransactionId);
  const foreign =
    same.some((row) => !isOwn(row)) ||
    payments.some((row) => !isOwn(row) && row.transactionId === serverTransactionId);
  return { own, settled: same.find(isOwn), foreign };
};
