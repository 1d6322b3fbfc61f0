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
const finalStatuses = new Set(['Y', 'A', 'N', 'U', 'R', 'I']);

/**
 * The outcome of an authentication; undefined while the provider has no final result. Y and A need a cryptogram; I says nothing
 * about the cardholder, so it does not verify the payment.
 */
export const outcomeOf = ({ transStatus, cavv, eci }: AuthenticationResult): Outcome | undefined => {
  if (transStatus === null || !finalStatuses.has(transStatus)) return undefined;
  return (transStatus === 'Y' || transStatus === 'A') && cavv
    ? { success: true, cavv, eci: eci ?? '' }
    : failure('declined');
};

/** The URL to redirect the browser to, as ASCII. Host and path come only from the store's own address. */
export const redirectTarget = (storeUrl: string, outcome: Outcome): string => {
  const page = `${storeUrl}${storeUrl.endsWith('/') ? '' : '/'}checkout/payment-verification`;
  const { href } = new URL(
    outcome.success
      ? `${page}/success?cavv=${encodeURIComponent(outcome.cavv)}&eci=${encodeURIComponent(outcome.eci)}`
      : `${page}/failure?msg=${encodeURIComponent(outcome.message)}`,
  );
  return href;
};

/** Outcomes are kept this long, so that a browser that returns gets the same response. */
export const keepOutcomeMs = 24 * 3_600_000;

/** Identifies a payment. */
export interface PaymentKey {
  storeId: string;
  service: string;
  transactionId: string;
}

export interface Payment extends PaymentKey {
  orderId: string;
  /** The only challenge that counts for the payment; null if none was registered with it. */
  threeDSServerTransId: string | null;
}

/** A challenge that was registered with its payment or has a final result. */
export interface KnownChallenge {
  storeId: string;
  transactionId: string;
  /** Encrypted; null before the final result, and after it was deleted. */
  outcome: string | null;
  outcomeAt: string;
}

/** The payments of all stores that have one of the ids in a request, and the challenge with its payment. */
export interface PaymentCandidates {
  payments: readonly Payment[];
  challenge: KnownChallenge | undefined;
}

/** The id in lower case: providers ignore case, so another spelling must not count as another challenge. */
export const challengeKey = (threeDSServerTransId: string): string => threeDSServerTransId.toLowerCase();

/**
 * The payment that a challenge is for, and the challenge if it is known. A browser may send any ids, so `isForeign` is true if
 * the challenge belongs to another payment, the payment to another challenge, or the ids only to payments of other stores. A
 * payment without a registered challenge may have several, because a customer may try again after a failed one.
 */
export const choosePayment = (
  { payments, challenge }: PaymentCandidates,
  storeId: string,
  transactionIds: readonly string[],
  serverTransactionId: string,
): { payment?: Payment; challenge?: KnownChallenge | undefined; isForeign: boolean } => {
  const withId = (id: string | undefined) =>
    payments.find((row) => row.storeId === storeId && row.transactionId === id);
  const challengeTransactionId = challenge?.storeId === storeId ? challenge.transactionId : undefined;
  const payment =
    transactionIds.map(withId).find((row) => row !== undefined) ?? withId(challengeTransactionId);
  if (payment === undefined) return { isForeign: payments.length > 0 || challenge !== undefined };
  const key = challengeKey(serverTransactionId);
  const isForeign =
    (challenge !== undefined && challengeTransactionId !== payment.transactionId) ||
    (payment.threeDSServerTransId !== null && challengeKey(payment.threeDSServerTransId) !== key) ||
    payments.some((row) => row !== payment && challengeKey(row.transactionId) === key);
  return { payment, challenge, isForeign };
};
