import { decimal } from '@platform/wallet-protocol/money';
import { minorOf, type Reply, type Wallet } from '../certify/wallet.ts';
import type { Asked, Call } from './call.ts';

/** The time that a recording is made in: milliseconds that only grow. */
export interface Clock {
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

/** The callbacks that a recording sends. */
export type Callbacks = Pick<Wallet, 'debit' | 'credit' | 'rollback' | 'balance'>;

export type Outcome = Pick<Call, 'status' | 'balance'>;

const noAnswer: Outcome = { status: null, balance: null };

/** Milliseconds between two repetitions of a call: they grow from the first to the last. */
const [firstPause, lastPause] = [40, 2000];

/** What the answer says; nulls when it leaves open what happened. */
const outcomeOf = ({ http, status, balance }: Reply): Outcome => {
  if (http !== 200 || typeof status !== 'string') return noAnswer;
  const minor = minorOf(balance);
  return { status, balance: minor === undefined ? null : Number(minor) };
};

const sendTo = (wallet: Callbacks, asked: Asked): Promise<Reply> => {
  const { operation, transaction, reverses, amount = 0, round, closes = false } = asked;
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
  /** How long one call is repeated, in milliseconds. */
  patience: number;
  /** Called for every attempt. */
  note(call: Omit<Call, 'player' | 'history'>): void;
}

/**
 * Sends a call again, as game servers do, until there is a clear answer or the patience is over. Resolves with the last
 * answer; its status is null when none was clear.
 */
export const createSender =
  ({ wallet, clock, patience, note }: SenderOptions) =>
  async (asked: Asked): Promise<Outcome> => {
    const micros = (): number => Math.round(clock.now() * 1000);
    const end = clock.now() + patience;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, lastPause)) {
      const sent = micros();
      const outcome = await sendTo(wallet, asked).then(outcomeOf, () => noAnswer);
      note({ ...asked, sent, answered: outcome.status === null ? null : micros(), ...outcome });
      if (outcome.status !== null || clock.now() + pause > end) return outcome;
      await clock.sleep(pause);
    }
  };
