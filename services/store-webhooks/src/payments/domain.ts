import type { AuthenticationResult } from '../providers/adapter.ts';

export type Outcome = { success: true; cavv: string; eci: string } | { success: false; message: string };

/** What the shop's page tells the customer. */
export const messages = {
  declined: 'The payment was not verified',
  unavailable: 'The verification is not available at the moment',
  unreadable: 'The verification could not be read',
  unknown: 'The verification is not known',
} as const;

export const failure = (reason: keyof typeof messages): Outcome => ({
  success: false,
  message: messages[reason],
});

/** EMV 3DS: Y authenticated, A attempted; neither is worth anything without its cryptogram. */
export const outcomeOf = ({ transStatus, cavv, eci }: AuthenticationResult): Outcome =>
  (transStatus === 'Y' || transStatus === 'A') && cavv
    ? { success: true, cavv, eci: eci ?? '' }
    : failure('declined');

/** Where the browser goes on, in characters that a header can hold. Nothing but the store's own address decides the place. */
export const redirectTarget = (storeUrl: string, outcome: Outcome): string => {
  const page = `${storeUrl.replace(/\/*$/, '/')}checkout/payment-verification`;
  const { href } = new URL(
    outcome.success
      ? `${page}/success?cavv=${encodeURIComponent(outcome.cavv)}&eci=${encodeURIComponent(outcome.eci)}`
      : `${page}/failure?msg=${encodeURIComponent(outcome.message)}`,
  );
  return href;
};

/** Outcomes are kept this long: a browser that comes back gets the same answer. */
export const keepOutcomeMs = 24 * 3_600_000;

export interface PaymentRow {
  storeId: string;
  service: string;
  transactionId: string;
  orderId: string;
  threeDSServerTransId: string | null;
  outcome: string | null;
  outcomeAt: Date | string | null;
}

/** Which payment a challenge is for, out of all that have one of its ids, in whichever store. */
export const choosePayment = (
  rows: readonly PaymentRow[],
  storeId: string,
  transactionIds: readonly string[],
  serverTransactionId: string,
): { own?: PaymentRow; foreign: boolean } => {
  const own = transactionIds
    .map((id) => rows.find((row) => row.storeId === storeId && row.transactionId === id))
    .find((row) => row !== undefined);
  // A browser may bring any ids it likes. Those of somebody else's transaction must not get its CAVV.
  const others = rows.filter((row) => row !== own);
  const taken = others.some(
    (row) => row.transactionId === serverTransactionId || row.threeDSServerTransId === serverTransactionId,
  );
  const bound = own?.threeDSServerTransId ?? serverTransactionId;
  const foreign = taken || bound !== serverTransactionId || (own === undefined && others.length > 0);
  return own === undefined ? { foreign } : { own, foreign };
};
