import { decimal } from '@platform/wallet-protocol/money';
import { minorOf, type Reply, type Wallet } from '../certify/wallet.ts';
import type { CallRequest, Call } from './call.ts';

/** A monotonic clock in milliseconds; tests use a virtual one. */
export interface Clock {
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

/** The callbacks that a recording sends to the wallet. */
export type Callbacks = Pick<Wallet, 'debit' | 'credit' | 'rollback' | 'balance'>;

export type Outcome = Pick<Call, 'status' | 'balance'>;

const noAnswer: Outcome = { status: null, balance: null };

/** Pauses between two attempts of a call: each is twice as long as the one before, up to the longest. */
const firstPauseMs = 40;
const longestPauseMs = 2000;

/** Status and balance of an answer; nulls when the answer does not tell the outcome. */
const outcomeOf = ({ http, status, balance }: Reply): Outcome => {
  if (http !== 200 || typeof status !== 'string') return noAnswer;
  const minor = minorOf(balance);
  return { status, balance: minor === undefined ? null : Number(minor) };
};

const sendTo = (wallet: Callbacks, request: CallRequest): Promise<Reply> => {
  const { operation, transaction, reverses, amount, round, closes } = request;
  // JSON omits undefined fields.
  return wallet[operation]({
    transactionId: transaction,
    reverseTransactionId: reverses,
    roundId: round,
    amount: amount === undefined ? undefined : decimal(amount),
    roundClosed: closes,
  });
};

export interface SenderOptions {
  clock: Clock;
  /** Seconds for which a call without a clear answer is retried. */
  patience: number;
}

/**
 * Returns a function that sends a call and retries it, like game servers, until there is a clear answer or `patience` is
 * over. It resolves with the last outcome, whose status is null when no answer was clear. Calls `onAttempt` after every
 * attempt.
 */
export const createSender =
  (
    wallet: Callbacks,
    { clock, patience }: SenderOptions,
    onAttempt: (call: Omit<Call, 'player' | 'history'>) => void,
  ) =>
  async (request: CallRequest): Promise<Outcome> => {
    const micros = (): number => Math.round(clock.now() * 1000);
    const end = clock.now() + patience * 1000;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const sent = micros();
      const outcome = await sendTo(wallet, request).then(outcomeOf, () => noAnswer);
      onAttempt({ ...request, sent, answered: outcome.status === null ? null : micros(), ...outcome });
      if (outcome.status !== null || clock.now() + pauseMs > end) return outcome;
      await clock.sleep(pauseMs);
    }
  };
