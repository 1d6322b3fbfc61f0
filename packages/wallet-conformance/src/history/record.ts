import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decimal } from '@platform/wallet-protocol/money';
import { minorOf, openWallet, type Reply, type Target, type Wallet } from '../certify/wallet.ts';
import type { Call } from './call.ts';
import { planHistory, type Planned } from './plan.ts';

export interface RecordOptions {
  target: Omit<Target, 'player'>;
  /** Players with 1.00 or more each, whom nobody else uses meanwhile. Their histories run at the same time. */
  players: readonly string[];
  seconds: number;
  random: () => number;
  /** Called for every call when it is over, in no particular order. */
  onCall(call: Call): void;
}

/** Repetitions of one history; with the calls that were planned they stay below what can be judged. */
const maxRepetitions = 8;

const micros = (): number => Math.round(performance.now() * 1000);

/** What the answer says; nulls when it leaves open what happened. */
const outcomeOf = ({ http, status, balance }: Reply): Pick<Call, 'status' | 'balance'> => {
  if (http !== 200 || typeof status !== 'string') return { status: null, balance: null };
  const minor = minorOf(balance);
  return { status, balance: minor === undefined ? null : Number(minor) };
};

/** Sends the calls of one player and notes each. */
const createSender = (
  wallet: Wallet,
  roundId: string,
  note: (call: Omit<Call, 'player' | 'history'>) => void,
) => {
  let left = maxRepetitions;
  const send = ({ operation, transaction, reverses, amount = 0 }: Planned): Promise<Reply> => {
    const fields = { transactionId: transaction, roundId };
    if (operation === 'debit') return wallet.debit({ ...fields, amount: decimal(amount) });
    if (operation === 'credit')
      return wallet.credit({ ...fields, amount: decimal(amount), roundClosed: false });
    if (operation === 'rollback') return wallet.rollback({ ...fields, reverseTransactionId: reverses });
    return wallet.balance();
  };
  /** Resolves with what was answered; null when there was no clear answer. */
  const once = async (planned: Planned): Promise<Pick<Call, 'status' | 'balance'>> => {
    const sent = micros();
    const outcome = await send(planned).then(outcomeOf, () => ({ status: null, balance: null }));
    const { at: _at, ...fields } = planned;
    note({ ...fields, sent, answered: outcome.status === null ? null : micros(), ...outcome });
    return outcome;
  };
  /** Sends again, as game servers do, until there is a clear answer or no repetition is left for this history. */
  return async (planned: Planned): Promise<Pick<Call, 'status' | 'balance'>> => {
    let outcome = await once(planned);
    for (let attempt = 1; outcome.status === null && left > 0; attempt++) {
      left--;
      await sleep(20 * 2 ** attempt);
      outcome = await once(planned);
    }
    return outcome;
  };
};

const read: Planned = { operation: 'balance', at: 0 };

/** Records one history. Resolves with false when the player cannot be used any more. */
const recordHistory = async (
  wallet: Wallet,
  history: number,
  { random, onCall }: RecordOptions,
): Promise<boolean> => {
  const { player } = wallet.target;
  const send = createSender(wallet, randomUUID(), (call) => onCall({ player, history, ...call }));
  const { status, balance } = await send(read);
  if (status !== 'OK' || balance === null) return false;
  // Opens the round, so that operators who pay no free rounds take the credits.
  const opened = await send({ operation: 'debit', transaction: randomUUID(), amount: 0, at: 0 });
  if (opened.status === null) return false;
  const outcomes = await Promise.all(
    planHistory(balance, random, randomUUID).map(async (planned) => {
      await sleep(planned.at);
      return send(planned);
    }),
  );
  const closing = await send(read);
  return closing.status === 'OK' && outcomes.every((outcome) => outcome.status !== null);
};

/**
 * Sends concurrent histories of callbacks for `seconds`, as a game server that repeats what was not answered, and
 * notes every call. A player whose call was never answered clearly is left alone from then on.
 * @throws when there is no player
 */
export const record = async (options: RecordOptions): Promise<void> => {
  const { players, seconds, target } = options;
  if (players.length === 0) throw new Error('a history needs at least one player');
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    players.map(async (player) => {
      const wallet = openWallet({ ...target, player });
      for (let history = 0; performance.now() < end; history++)
        if (!(await recordHistory(wallet, history, options))) return;
    }),
  );
};
