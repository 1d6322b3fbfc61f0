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

/** What identifies a payment. */
export interface PaymentKey {
  storeId: string;
  service: string;
  transactionId: string;
}

export interface Payment extends PaymentKey {
  orderId: string;
  /** The only challenge that counts for it; null if none was registered with it. */
  threeDSServerTransId: string | null;
}

/** A challenge that was registered with its payment or came to a final result. */
export interface KnownChallenge {
  storeId: string;
  transactionId: string;
  /** Sealed; null before the final result, and once it was too old. */
  outcome: string | null;
  outcomeAt: string;
}

/** The payments of all stores that have one of the ids in a request, and the challenge with its payment. */
export interface Known {
  payments: readonly Payment[];
  challenge: KnownChallenge | undefined;
}

/** Providers compare ids without regard to case, so another spelling must not pass as another challenge. */
export const challengeKey = (threeDSServerTransId: string): string => threeDSServerTransId.toLowerCase();

/**
 * The payment that a challenge is for. A browser may send any ids, so a challenge is `foreign` when it belongs to
 * another payment or the payment to another challenge, or when the ids belong to payments of other stores only. A
 * payment without a registered challenge may have several: a customer whose first one failed tries again.
 */
export const choosePayment = (
  { payments, challenge }: Known,
  storeId: string,
  transactionIds: readonly string[],
  serverTransactionId: string,
): { own?: Payment; settled?: KnownChallenge | undefined; foreign: boolean } => {
  const withId = (id: string | undefined) =>
    payments.find((row) => row.storeId === storeId && row.transactionId === id);
  const belongsTo = challenge?.storeId === storeId ? challenge.transactionId : undefined;
  const own = transactionIds.map(withId).find((row) => row !== undefined) ?? withId(belongsTo);
  if (own === undefined) return { foreign: payments.length > 0 || challenge !== undefined };
  const key = challengeKey(serverTransactionId);
  const foreign =
    (challenge !== undefined && belongsTo !== own.transactionId) ||
    (own.threeDSServerTransId !== null && challengeKey(own.threeDSServerTransId) !== key) ||
    payments.some((row) => row !== own && challengeKey(row.transactionId) === key);
  return { own, settled: challenge, foreign };
};
