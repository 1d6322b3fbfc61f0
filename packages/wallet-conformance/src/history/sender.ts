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

/** Milliseconds between two attempts of a call: the pause doubles from the first to the longest. */
const [firstPause, longestPause] = [40, 2000];

/** Status and balance of an answer; nulls when the answer does not tell the outcome. */
const outcomeOf = ({ http, status, balance }: Reply): Outcome => {
  if (http !== 200 || typeof status !== 'string') return noAnswer;
  const minor = minorOf(balance);
  return { status, balance: minor === undefined ? null : Number(minor) };
};

const sendTo = (wallet: Callbacks, request: CallRequest): Promise<Reply> => {
  const { operation, transaction, reverses, amount = 0, round, closes = false } = request;
  const fields = { transactionId: transaction, roundId: round };
  if (operation === 'debit') return wallet.debit({ ...fields, amount: decimal(amount) });
  if (operation === 'credit')
    return wallet.credit({ ...fields, amount: decimal(amount), roundClosed: closes });
  if (operation === 'rollback')
    return wallet.rollback({ ...fields, reverseTransactionId: reverses, roundClosed: closes });
  return wallet.balance();
};

export interface SenderOptions {
  wallet: Callbacks;
  clock: Clock;
  /** How long one call is retried, in milliseconds. */
  patience: number;
  /** Called after every attempt. */
  onAttempt(call: Omit<Call, 'player' | 'history'>): void;
}

/**
 * Returns a function that sends a call and retries it, like game servers, until there is a clear answer or `patience` is
 * over. It resolves with the last outcome, whose status is null when no answer was clear.
 */
export const createSender =
  ({ wallet, clock, patience, onAttempt }: SenderOptions) =>
  async (request: CallRequest): Promise<Outcome> => {
    const micros = (): number => Math.round(clock.now() * 1000);
    const end = clock.now() + patience;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      const sent = micros();
      const outcome = await sendTo(wallet, request).then(outcomeOf, () => noAnswer);
      onAttempt({ ...request, sent, answered: outcome.status === null ? null : micros(), ...outcome });
      if (outcome.status !== null || clock.now() + pause > end) return outcome;
      await clock.sleep(pause);
    }
  };
